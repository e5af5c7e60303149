//# about: --undefined-glob links the members whose symbols match, and keeps the sections under gc
//# not: bfd mold lld -- they have no such option, or leave the sections to gc
//# sh: ar rcs libx.a one.o two.o three.o
//# link: undefined-glob.o libx.a --undefined-glob 'plug_*' --undefined-glob=here? --gc-sections
//# symbol: plug_one
//# symbol: plug_two
//# symbol: here1
//# no-symbol: three here22
//# fail: undefined-glob.o --undefined-glob '['
//# error: (?i)glob|pattern
.globl _start, here1, here22
_start: ret
.section .text.a,"ax"
here1: ret
.section .text.b,"ax"
here22: ret
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl plug_one
plug_one: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl plug_two
plug_two: ret
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: ret
.section .note.GNU-stack,"",@progbits
