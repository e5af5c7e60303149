//# about: what stands for dropped code in .debug_names fits fields of any width
//# only: weld -- others write other values
//# link: dead-names.o --gc-sections
//# contains: .debug_names = \xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xaa
//# contains: .debug_info = \0\0\0\0\xbb
//# link: dead-names.o --gc-sections -z dead-reloc-in-nonalloc=.debug_info=0x1122334455667788
//# contains: .debug_info = \x88\x77\x66\x55\xbb
.section .text._start,"ax",@progbits
.globl _start
_start: ret
.section .text.dead,"ax",@progbits
dead: ret
.section .debug_names,"",@progbits
.quad dead
.long dead
.word dead
.byte dead
.byte 0xaa
.section .debug_info,"",@progbits
.long dead
.byte 0xbb
.section .note.GNU-stack,"",@progbits
