//# about: input sections join output sections by prefix; other names keep their own
//# link: names.o
//# section: .text flags=AX
//# section: .rodata flags=A
//# section: .data flags=WA
//# section: .bss flags=WA type=NOBITS
//# section: .tdata flags=WAT
//# section: .tbss flags=WAT type=NOBITS
//# section: .data.rel.ro flags=WA
//# section: .init_array type=INIT_ARRAY
//# section: .fini_array type=FINI_ARRAY
//# section: .mine flags=A
//# [!bfd !mold] section: .mine.sub flags=WA
//# check: count(.text) == 1
//# no-section: .text.unlikely.x .data.foo .rodata.bar .bss.baz .init_array.5
//# check: size(.init_array) == 16
.section .text.unlikely.x,"ax",@progbits
  nop
.text
.globl _start
_start: ret
.section .rodata.bar,"a",@progbits
.quad 1
.section .data.foo,"aw",@progbits
.quad 1
.section .bss.baz,"aw",@nobits
.zero 8
.section .tdata.t,"awT",@progbits
.quad 1
.section .tbss.t,"awT",@nobits
.zero 8
.section .data.rel.ro.local,"aw",@progbits
.quad 1
.section .init_array.5,"aw",@init_array
.quad 1
.section .init_array,"aw",@init_array
.quad 1
.section .fini_array,"aw",@fini_array
.quad 1
.section .mine,"a",@progbits
.quad 1
.section .mine.sub,"aw",@progbits
.quad 1
.section .note.GNU-stack,"",@progbits
