//# about: load addresses where a script says little of them: AT> that holds on, gaps, alignment, moves of '.', NOLOAD, thread-local zeroes, overlays
//# not: mold lld -- mold reads no MEMORY; ld.lld has rules of its own
// AT> holds for what follows in the same memory; only ALIGN aligns the load address, and the contents do where both regions are one.
//# link: load-addresses.o -T regions.ld
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: addr(.b) == 0x10040
//# check: addr(.e) == 0x10100
//# check: addr(.f) == sym(f) == 0x30040
//# check: sym(after) == sym(f) + 4
//# check: sym(a) == 0x20001
//# check: sym(b) == 0x20006
//# check: sym(c) == 0x20010
//# check: sym(d) == 0x20013
//# check: sym(e) == 0x200b0
//# check: addr(.z) == sym(e) + 3
//# sh: objcopy -O binary -j .a -j .b -j .c out image && od -An -tx1 -v image | tr -d ' \n' && echo
//# stdout: 010101010102020000000000000000030303
// A region goes on where its last section ends, also where '.' or an address has moved down.
//# link: load-addresses.o -T moves.ld
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: addr(.a) == 0x10100
//# check: addr(.b) == 0x10040
//# check: addr(.c) == 0x10044 == sym(c)
//# check: sym(a) == 0x50000
//# check: sym(b) == addr(.b)
//# check: sym(d) == 0x60001
//# check: sym(e) == 0x60100
// An orphan that an option puts somewhere is in no region, and nothing is loaded behind it.
//# link: load-addresses.o -T put.ld --section-start=.s.b=0x10800
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: addr(.s.b) == 0x10800
//# check: sym(c) == addr(.a) + size(.a)
// An address that counts from '.' counts in the region (GNU ld refuses it if '.' is in another).
//# [weld] link: load-addresses.o -T counts.ld
//# [weld] no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# [weld] check: addr(.b) == 0x30040
//# [weld] check: addr(.c) == 0x10010
// What is never loaded may lie on something else, and moves no load region.
//# link: load-addresses.o -T unloaded.ld
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: addr(.b) == addr(.a) == 0x10000
//# check: sym(c) == 0x20005
// The sections of an overlay are loaded one behind the other, from the region of AT> if they have one.
//# link: load-addresses.o -T overlay.ld
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: addr(.b) == 0x10040 == addr(.c)
//# check: sym(b) == 0x20006
//# check: sym(c) == 0x20008
//# check: sym(d) == 0x2000b
// All sections of an overlay lie in the memory that its first section finds, and what follows is loaded behind them.
//# [weld] link: load-addresses.o -T chosen.ld
//# [weld] no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# [weld] check: addr(.b) == 0x10040 == addr(.c)
//# [weld] check: sym(c) == 0x50002
//# link: load-addresses.o -T behind.ld
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: addr(.d) == 0x10100
//# check: sym(c) == 0x50002
//# check: sym(d) == 0x50100
// Thread-local zeroes go on with the template and take no room.
//# link: threads.o -T threads.ld -e 0
//# no-verify: what is loaded from elsewhere is a segment of its own, on the same page
//# check: addr(.t2) == 0x10040
//# check: addr(.d) == 0x10040
//# [weld] check: addr(.t3) == 0x10044
//# [weld] segment: TLS vaddr=0x10000 memsz=0x48 align=0x40
// Errors.
//# fail: load-addresses.o -T nowhere.ld
//# [weld] error: section \.b is in none of the script's memory regions
//# [weld] fail: load-addresses.o -T below.ld
//# error: below\.ld:3:\d+: section \.b at 0x8000 lies below its region R
.globl _start
_start = 0
.section .s.a,"ax"
.fill 5, 1, 1
.section .s.b,"aw"
.balign 64
.fill 2, 1, 2
.section .s.c,"aw"
.balign 32
.fill 3, 1, 3
.section .s.d,"a"
.fill 1, 1, 4
.section .s.e,"a"
.balign 256
.fill 3, 1, 5
.section .s.f,"aw"
.balign 64
.fill 4, 1, 6
.section .note.GNU-stack,"",@progbits
//--- threads.s
.section .s.d,"aw"
.byte 1
.section .t.1,"awT"
.fill 2, 1, 7
.section .t.2,"awT",@nobits
.balign 64
.zero 1
.section .t.3,"awT",@nobits
.balign 4
.zero 4
.section .note.GNU-stack,"",@progbits
//--- regions.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K  F : ORIGIN = 0x20001, LENGTH = 4K  G : ORIGIN = 0x30001, LENGTH = 4K }
SECTIONS {
  .a : { *(.s.a) } > R AT> F
  .b : { *(.s.b) } > R
  .c : ALIGN(16) { *(.s.c) } > R
  .d : ALIGN_WITH_INPUT { *(.s.d) . += 16; } > R AT> F
  .e : ALIGN_WITH_INPUT { *(.s.e) } > R AT> F
  .f : { *(.s.f) } AT> G
  .after : { BYTE(1) } > G
  .z : { BYTE(9) } > F
  a = LOADADDR(.a); b = LOADADDR(.b); c = LOADADDR(.c); d = LOADADDR(.d); e = LOADADDR(.e); f = LOADADDR(.f);
  after = LOADADDR(.after);
}
//--- moves.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K  G : ORIGIN = 0x30001, LENGTH = 4K }
SECTIONS {
  .a 0x10100 : AT(0x50000) { *(.s.a) } > R
  .b 0x10040 : { *(.s.b) BYTE(1) BYTE(1) } > R
  .c : { *(.s.d) } > R
  .d : AT(0x60001) { *(.s.c) } > G
  .e : { *(.s.e .s.f) } > G
  a = LOADADDR(.a); b = LOADADDR(.b); c = LOADADDR(.c); d = LOADADDR(.d); e = LOADADDR(.e);
}
//--- counts.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K  G : ORIGIN = 0x30001, LENGTH = 4K }
SECTIONS {
  .a : { *(.s.a) } > R
  .b ALIGN(64) : { *(.s.b) } > G
  .c ALIGN(16) : { *(.s.d) } > R
  .d : { *(.s.c .s.e .s.f) } > G
}
//--- unloaded.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K  F : ORIGIN = 0x20000, LENGTH = 4K }
SECTIONS {
  .a : { *(.s.a) } > R AT> F
  .b 0x10000 (NOLOAD) : { *(.s.b) } > R AT> F
  .c : { *(.s.c) } > R AT> F
  .d : { *(.s.d .s.e .s.f) } > R AT> F
  c = LOADADDR(.c);
}
//--- overlay.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K  F : ORIGIN = 0x20001, LENGTH = 4K }
SECTIONS {
  .a : { *(.s.a) } > R AT> F
  OVERLAY : { .b { *(.s.b) } .c { *(.s.d) BYTE(1) BYTE(2) } } > R AT> F
  .d : { *(.s.c .s.e .s.f) } > R AT> F
  b = LOADADDR(.b); c = LOADADDR(.c); d = LOADADDR(.d);
}
//--- chosen.ld
MEMORY { R (!w) : ORIGIN = 0x30000, LENGTH = 4K  W (w) : ORIGIN = 0x10000, LENGTH = 4K }
SECTIONS {
  .a : { *(.s.c) }
  OVERLAY : AT(0x50000) { .b { *(.s.b) } .c { *(.s.d) } }
  .d : { *(.s.a .s.e .s.f) } > W
  c = LOADADDR(.c);
}
//--- behind.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K }
SECTIONS {
  .a : { *(.s.a) } > R AT> R
  OVERLAY : AT(0x50000) { .b { *(.s.b) } .c { *(.s.d) } } > R
  .d : { *(.s.c .s.e .s.f) } > R
  c = LOADADDR(.c); d = LOADADDR(.d);
}
//--- threads.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K }
SECTIONS {
  .t1 : { *(.t.1) } > R
  .t2 : { *(.t.2) } > R
  .t3 : { *(.t.3) } > R
  .d : { *(.s.d) } > R
}
//--- nowhere.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K }
SECTIONS { .a : { *(.s.a) } > R .b : { *(.s.b .s.c .s.d .s.e .s.f) } }
//--- below.ld
MEMORY { R : ORIGIN = 0x10000, LENGTH = 4K }
SECTIONS { .a : { *(.s.a .s.c .s.d .s.e .s.f) } > R
  .b 0x8000 : { *(.s.b) } > R }
//--- put.ld
MEMORY { R (r) : ORIGIN = 0x10000, LENGTH = 4K  W (w) : ORIGIN = 0x40000, LENGTH = 4K }
SECTIONS {
  .a : { *(.s.a) } > R
  .c : { *(.s.c .s.d .s.e .s.f) } > W AT> R
  c = LOADADDR(.c);
}
