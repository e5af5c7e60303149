//# about: PROVIDE beside the default layout: what its value names is asked for only if the symbol is
//# not: mold -- it gives no values to what PROVIDE names in chains
//# link: provided-beside.o x.ld --start-lib member.o --end-lib
//# symbol: asked value=0x30
//# symbol: needed value=0x10
//# no-symbol: unused other member undef
//# fail: undefined.o x.ld
//# error: undef
.globl _start
_start: ret
.data
.quad asked
.section .note.GNU-stack,"",@progbits
//--- undefined.s
.globl _start
_start: ret
.data
.quad unused
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl member
member: ret
.section .note.GNU-stack,"",@progbits
//--- x.ld
PROVIDE(asked = needed + 0x20);
PROVIDE(needed = 0x10);
PROVIDE(other = member);
PROVIDE(unused = undef);
