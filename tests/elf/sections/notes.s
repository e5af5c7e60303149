//# about: note sections of one alignment share a PT_NOTE
//# link: notes.o --build-id=0x1234
//# section: .note.a
//# section: .note.b
//# segment: NOTE align=4 count=1
//# build-id: = 1234
.globl _start
_start: ret
.section .note.a,"a",@note
.p2align 2
.long 4, 4, 1
.asciz "abc"
.long 5
.section .note.b,"a",@note
.p2align 2
.long 4, 4, 2
.asciz "abc"
.long 6
.section .note.GNU-stack,"",@progbits
