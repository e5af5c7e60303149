//# about: --dynamic-linker, --no-dynamic-linker
//# link: -pie interp.o --dynamic-linker=/my/ld.so
//# contains: .interp = /my/ld.so\0
//# section: .interp type=PROGBITS flags=A align=1 size=10
//# link: -pie interp.o --no-dynamic-linker
//# no-section: .interp
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
