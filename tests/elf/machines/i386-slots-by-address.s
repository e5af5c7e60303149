//# about: i386: a slot that is named by its address in an image that may be moved is the loader's affair
//# not: mold bfd -- the one is built without i386, the other refuses it
//# machines: i386
//# except: machine=x86-64
//# obj: main.o = main.c
//# link: -m elf_i386 -z notext %pie main.o i386-slots-by-address.o
//# run:
//# stdout: 7
//# [weld] fail: -m elf_i386 %pie main.o i386-slots-by-address.o
//# error: R_386_GOT32 in a read-only section needs a dynamic relocation against 'number'
    .text
    .globl by_address
by_address:
    .byte 0x8b, 0x05
    .reloc ., R_386_GOT32, number
    .long 0
    mov (%eax), %eax
    ret
    .data
number: .long 7
    .section .note.GNU-stack, "", @progbits
//--- main.c
#include <stdio.h>
int by_address(void);
int main(void) {
  printf("%d\n", by_address());
  return 0;
}
