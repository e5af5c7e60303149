//# about: -m elf_x86_64 is fine, another machine's objects are not
//# link: -m elf_x86_64 emulation.o
//# fail: -m elf_i386 emulation.o
//# error: emulation.o|elf_i386
//# fail: -m no_such_emulation emulation.o
//# error: no_such_emulation
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
