//# about: an overlay defines where its sections are loaded, for whoever asks: code, or the script
//# not: mold lld -- mold reads no SECTIONS; ld.lld has no such symbols
//# link: overlay-symbols.o -T x.ld
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: u64(sym(_start)) == 0x20000
//# check: u64(sym(_start) + 8) == 0x2000c
//# check: sym(middle) == 0x20008
//# no-symbol: __load_stop_one
.globl _start
.text
_start: .quad __load_start_one, __load_stop_two2
.section .a,"a"
.fill 8, 1, 1
.section .b,"a"
.fill 4, 1, 2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  .text 0x10000 : { *(.text) }
  OVERLAY 0x11000 : AT(0x20000) { .one { *(.a) } .two-2 { *(.b) } }
}
middle = __load_start_two2;
