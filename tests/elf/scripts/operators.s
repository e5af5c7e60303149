//# about: what operators make of addresses and numbers, inside of an output section and outside
//# not: mold lld -- mold reads no SECTIONS; ld.lld takes numbers inside of sections as addresses
// A number counts from the start of the section that it stands in, also where it is compared with an address there.
//# link: operators.o -T x.ld
//# check: size(.data) == 0x200
//# check: sym(less) == addr(.data) + 1
//# check: sym(start) == 0x8000
// The origin of memory is an address.
//# link: operators.o -T memory.ld
//# check: sym(top) == 0x21000
//# check: sym(segment) == 0x20010
//# check: sym(twice) == 0x20000
//# check: end(.data) == 0x20100
// What is multiplied, divided or shifted is no address any more.
//# link: operators.o -T x.ld -pie
//# symbol: segment section=ABS value=0x2000
//# symbol: twice section=ABS value=0x40000
//# check: relocs(R_X86_64_RELATIVE) == 1
// Inside of an output section operators work on the distance from its start, in data on the whole address.
//# link: operators.o -T offsets.ld
//# check: sym(behind) == 0x8008 + 24 + 36
//# check: sym(rest) == 0x8008 + 60 % 7
//# check: sym(masked) == 0x8008 + 56
//# check: sym(twice) == 0x8008 + 48
//# check: sym(backwards) == 0x8008 + 36
//# check: sym(aligned) == 0x8008 + 64
//# bytes: sym(aligned) = 40 00 01 00
.globl _start
_start = 0
.data
.quad segment, twice, less
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  .data 0x20000 : {
    *(.data)
    ASSERT(. <= 0x1fe, "too long")
    less = . < 0x1fe;
    start = SEGMENT_START("none", 0x8000);
    . = MAX(., 0x100);
    . = MIN(0x200, 0x300);
  }
  segment = ADDR(.data) >> 4;
  twice = ADDR(.data) * 2;
}
//--- offsets.ld
SECTIONS {
  .data 0x8008 : {
    *(.data)
    four = 4;
    . += four + 5 << 2;
    behind = .;
    rest = behind % 7;
    masked = behind & ~7;
    twice = (ADDR(.data) + 24) * 2;
    backwards = behind + -24;
    . = . + (-. & 15);
    aligned = .;
    LONG((ADDR(.data) + 24) * 2)
    segment = 1; less = 1;
  }
}
//--- memory.ld
MEMORY { RAM (rw) : ORIGIN = 0x20000, LENGTH = 4K }
SECTIONS {
  .data : {
    *(.data)
    top = ORIGIN(RAM) + LENGTH(RAM);
    twice = ORIGIN(RAM);
    less = . - ORIGIN(RAM);
    ASSERT(. - ORIGIN(RAM) <= 0x18, "too long")
    segment = 0x10;
    . = ORIGIN(RAM) + 0x100;
  } > RAM
}
