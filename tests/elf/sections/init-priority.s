//# about: .init_array.N in ascending order, .ctors.N in descending; the plain ones last
//# link: init-priority.o
//# check: u64(addr(.init_array)) == 1
//# check: u64(addr(.init_array) + 8) == 2
//# check: u64(addr(.init_array) + 16) == 10
//# check: u64(addr(.init_array) + 24) == 100
//# check: u64(addr(.init_array) + 32) == 65536
.globl _start
_start: ret
.section .init_array,"aw",@init_array
.quad 65536
.section .init_array.100,"aw",@init_array
.quad 100
.section .init_array.10,"aw",@init_array
.quad 10
.section .init_array.1,"aw",@init_array
.quad 1
.section .init_array.00002,"aw",@init_array
.quad 2
.section .note.GNU-stack,"",@progbits
