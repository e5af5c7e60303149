//# about: sections with SHF_LINK_ORDER lie in the order in which what they are linked to lies, however the script sorts that
//# not: mold -- it reads no SECTIONS
//# link: link-order.o -T x.ld
//# contains: .meta = abcxy
//# section: .meta link=.text
//# [!bfd] link: link-order.o -T down.ld -o down
//# [!bfd] contains: .meta = xyabc
.globl _start
.section .text.c,"ax"
_start: nop
.section .text.a,"ax"; nop
.section .text.b,"ax"; nop
.section .late.y,"ax"; nop
.section .early.x,"ax"; nop
.section .meta.1,"ao",@progbits,.late.y; .ascii "y"
.section .meta.2,"ao",@progbits,.early.x; .ascii "x"
.section .meta.3,"ao",@progbits,.text.c; .ascii "c"
.section .meta.4,"ao",@progbits,.text.a; .ascii "a"
.section .meta.5,"ao",@progbits,.text.b; .ascii "b"
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  .text : { *(SORT(.text.*)) }
  .early : { *(.early.*) }
  .late : { *(.late.*) }
  .meta : { *(.meta.*) }
}
//--- down.ld
SECTIONS {
  . = 0x10000;
  .meta : { *(.meta.*) }
  .text 0x30000 : { *(SORT(.text.*)) }
  .late 0x21000 : { *(.late.*) }
  .early 0x20000 : { *(.early.*) }
}
