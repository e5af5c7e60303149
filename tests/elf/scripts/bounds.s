//# about: with SECTIONS nobody but the script defines _end and its kin; INSERT leaves them as they are
//# not: mold -- it reads no SECTIONS
//# fail: bounds.o -T x.ld
//# [weld] error: undefined symbol: _?(end|etext|edata|_bss_start)
//# link: weak.o -T x.ld -o weak
//# check: u64(addr(.data)) == 0
//# link: bounds.o -T own.ld -o own
//# check: u64(addr(.data)) == 0x10020
//# [!bfd] link: bounds.o -T insert.ld -o insert
//# [!bfd] check: u64(addr(.data)) == sym(end)
.globl _start
_start: ret
.data
.quad end, etext, _edata, __bss_start
.section .note.GNU-stack,"",@progbits
//--- weak.s
.globl _start
_start: ret
.data
.weak end
.quad end
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { . = 0x10000; .text : { *(.text) } .data : { *(.data) } }
//--- own.ld
SECTIONS { . = 0x10000; .data : { *(.data) } PROVIDE(end = .); etext = .; _edata = .; __bss_start = .; .text : { *(.text) } }
//--- insert.ld
SECTIONS { .more : { QUAD(1) } } INSERT AFTER .data;
