//# about: scripts as libraries: comments, GROUP, INPUT, AS_NEEDED, OUTPUT_FORMAT, quotes, -l inside
//# link: -shared d.o -soname=libd.so -o libd.so
//# sh: ar rcs liba.a a.o && ar rcs libb.a b.o
//# link: linker-script-input.o -L. -lscript
//# symbol: a
//# symbol: b
//# no-dynamic: NEEDED libd.so
//# link: linker-script-input.o input.ld -L .
//# symbol: a
.globl _start
_start: call a
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl a
a: call b
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl b
b: ret
.section .note.GNU-stack,"",@progbits
//--- d.s
.globl d
d: ret
.section .note.GNU-stack,"",@progbits
//--- libscript.so
/* GNU ld script
   in two lines */
OUTPUT_FORMAT(elf64-x86-64)
GROUP ( "liba.a" -lb AS_NEEDED ( libd.so ) )
//--- input.ld
INPUT(liba.a -l:libb.a)
