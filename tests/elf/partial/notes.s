//# about: -r: notes that speak of the whole file are merged; a build id is new
//# not: mold -- 1.10 keeps every section apart
//# obj: notes.o = notes.s
//# obj: two.o = two.s
//# obj: three.o = three.s
//# link: -r notes.o two.o -o r.o
//# [!bfd] readelf: -n => x86 feature: IBT\n
//# check: count(.note.gnu.property) == 1
//# section: .note.GNU-stack size=0 flags=
//# link: -r notes.o three.o -o s.o
//# [!bfd] no-section: .note.gnu.property
//# [!lld] section: .note.GNU-stack flags=X
//# link: -r notes.o two.o --build-id=sha1 -o id.o
//# build-id: 20
//# link: -r id.o --build-id=0x12345678 -o again.o
//# [!bfd] build-id: = 12345678
//# [!bfd] check: count(.note.gnu.build-id) == 1
//# link: -r id.o -o none.o
//# [!bfd] no-section: .note.gnu.build-id
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 3, 0
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 1, 0
.section .note.GNU-stack,"",@progbits
//--- three.s
.text
nop
.section .note.GNU-stack,"x",@progbits
