//# about: Debug information that makes no sense: a warning says where, and the index has the rest
//# obj: good.o = good.c -g -gdwarf-4
//# link: malformed.o good.o --gdb-index -o out
//# no-verify: the debug information is malformed
//# warning: malformed.o:\(.debug_info\+0x0\): unit goes beyond the end of its section; .gdb_index leaves it out
//# sh: llvm-dwarfdump-22 --gdb-index out > index
//# file: index => CU list offset = 0x18, has 1 entries
//# file: index => String name: good, CU vector
//# link: abbreviation.o good.o --gdb-index -o out2
//# warning: abbreviation.o:\(.debug_abbrev\+0x0\): abbreviation is cut off or has a form that is not known; .gdb_index leaves it out
//# link: list.o good.o --gdb-index -o out3
//# warning: list.o:\(.debug_ranges\+0x0\): range list is cut off or refers to an address that is not there; .gdb_index leaves it out
//# link: names.o good.o --gdb-index -o out4
//# warning: names.o:\(.debug_gnu_pubnames\+0x0\): table of names is cut off; .gdb_index leaves it out
.globl _start
_start: ret
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 0, 0, 0, 0
.section .debug_info,"",@progbits
.long 100
.short 4
.long .debug_abbrev
.byte 8, 1
//--- abbreviation.s
.globl _start
_start: ret
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 0, 3, 0x70, 0, 0, 0
.section .debug_info,"",@progbits
.long 2f - 1f
1: .short 4
.long .debug_abbrev
.byte 8, 1
2:
//--- list.s
.globl _start
_start: ret
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 0, 0x55, 0x17, 0, 0, 0
.section .debug_info,"",@progbits
.long 2f - 1f
1: .short 4
.long .debug_abbrev
.byte 8, 1
.long .debug_ranges
2:
.section .debug_ranges,"",@progbits
.quad _start
//--- names.s
.globl _start
_start: ret
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 0, 0, 0, 0
.section .debug_info,"",@progbits
.long 2f - 1f
1: .short 4
.long .debug_abbrev
.byte 8, 1
2:
.section .debug_gnu_pubnames,"",@progbits
.long 100
.short 2
//--- good.c
int good(void) { return 0; }
