//# about: -Map and --print-map list sections, inputs, symbols with addresses
//# link: map.o two.o -Map=out.map
//# file: out.map => \.text
//# file: out.map => map\.o
//# file: out.map => two\.o
//# file: out.map => _start
//# [!bfd] link: map.o two.o --print-map
//# [!bfd] stdout-re: _start
//# [weld|lld] link: map.o two.o -M
//# [weld|lld] stdout-re: two\.o:\(\.data\)
.globl _start
_start: call two
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.data
.globl data
data: .quad 1
.section .note.GNU-stack,"",@progbits
