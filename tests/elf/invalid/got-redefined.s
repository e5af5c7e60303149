//# about: an object may not define the name by which code finds the GOT
//# not: bfd mold -- they accept it
//# fail: got-redefined.o
//# error: got-redefined\.o:? (defines _GLOBAL_OFFSET_TABLE_|cannot redefine linker defined symbol)
.globl _start, _GLOBAL_OFFSET_TABLE_
_start: ret
.data
_GLOBAL_OFFSET_TABLE_: .quad 0
.section .note.GNU-stack,"",@progbits
