//# about: PIC code cannot have the address of what a library that is not needed defines
//# only: weld -- others write an address that is not null
//# link: -shared lib.o -o lib.so
//# fail: -pie as-needed-weak-pie.o --as-needed lib.so
//# error: 'f'.*is not needed
//# link: -pie as-needed-weak-pie.o lib.so
.globl _start
.weak f
_start: lea f(%rip), %rax
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl f
.type f, @function
f: ret
.section .note.GNU-stack,"",@progbits
