//# about: what debug sections say about dropped code: 0, or 1 in .debug_ranges and .debug_loc
//# only: weld lld -- others write other values
//# link: line-tombstone.o --gc-sections
//# contains: .debug_info = \0\0\0\0\0\0\0\0\xaa
//# contains: .debug_ranges = \x01\0\0\0\0\0\0\0\xbb
//# contains: .debug_loc = \x01\0\0\0\0\0\0\0\xcc
//# link: line-tombstone.o --gc-sections -z dead-reloc-in-nonalloc=.debug_info=0x77 -z dead-reloc-in-nonalloc=.debug_l*=0xffffffffffffffff
//# contains: .debug_info = \x77\0\0\0\0\0\0\0\xaa
//# contains: .debug_loc = \xff\xff\xff\xff\xff\xff\xff\xff\xcc
.section .text._start,"ax",@progbits
.globl _start
_start: ret
.section .text.dead,"ax",@progbits
dead: ret
.section .debug_info,"",@progbits
.quad dead
.byte 0xaa
.section .debug_ranges,"",@progbits
.quad dead
.byte 0xbb
.section .debug_loc,"",@progbits
.quad dead
.byte 0xcc
.section .note.GNU-stack,"",@progbits
