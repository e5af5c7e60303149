//# about: the first pattern that matches counts; bins lie in the order of the script; KEEP, EXCLUDE_FILE, SORT, /DISCARD/
//# not: mold -- it reads no SECTIONS
//# link: order.o b.o -T x.ld
//# order: .first .second .third
//# check: addr(.first) == 0x10000
//# contains: .first = abcdx
//# contains: .second = 4321
//# contains: .third = B
//# check: sym(start) == 0x10000
//# check: sym(stop) == addr(.first) + 5
//# check: sym(size) == 5
//# no-section: .gone
//# no-symbol: unused
//# symbol: size section=ABS
//# symbol: hid bind=LOCAL
.globl _start
.section .text,"ax"
_start: ret
.section .a.2,"a"; .ascii "c"
.section .a.1,"a"; .ascii "a"
.section .b,"a"; .ascii "b"
.section .a.3,"a"; .ascii "d"
.section .x,"a"; .ascii "x"
.section .s.1,"a"; .ascii "1"
.section .s.2,"a"; .ascii "2"
.section .gone,"a"; .ascii "gone"
.section .third,"a"; .long 0
.section .note.GNU-stack,"",@progbits
//--- b.s
.section .s.4,"a"; .ascii "4"
.section .s.3,"a"; .ascii "3"
.section .only,"a"; .ascii "B"
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  .first : { start = .; *(.a.1) *(.b) *(.a.2 .a.3) *(.x) stop = .; }
  .second : { *(REVERSE(SORT_BY_NAME(.s.*))) }
  .third : { *(EXCLUDE_FILE(*order.o) .third .only) }
  .text : { *(.text) }
  .rest : { *(.third) }
  /DISCARD/ : { *(.gone) }
  size = SIZEOF(.first);
  HIDDEN(hid = 1);
  PROVIDE(unused = 2);
}
