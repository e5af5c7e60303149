//# about: a map lists assignments where they take effect, and load addresses
//# only: weld -- the layout of the map is its own
//# link: map.o -T x.ld -Map=x.map
//# file: x.map => (?m)^ +0 +0 +10000 +1 \. = 0x10000
//# file: x.map => (?m)^ +10000 +0 +0 +1 start = \.
//# file: x.map => (?m)^ +10000 +20000 +11 +\d+ \.text\n +10000 +20000 +1 +\d+ +\S+:\(\.text\)
//# file: x.map => (?m)^ +10001 +20001 +f +1 +\. = ALIGN\(16\)\n +10010 +20010 +1 +1 +<internal>:\(\.text\)\n +10011 +20011 +0 +1 +inside = \.
//# file: x.map => (?m)^ +10011 +0 +0 +1 PROVIDE\(last = start \+ 1\)
.globl _start
_start: ret
.data
.quad last
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  start = .;
  .text : AT(0x20000) { *(.text) . = ALIGN(16); BYTE(1) inside = .; }
  PROVIDE(last = start + 1);
  PROVIDE(nobody = 1);
  .data : { *(.data) }
}
