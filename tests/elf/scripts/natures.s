//# about: numbers and what a script makes absolute do not move with a position-independent program; addresses do
//# only: weld lld -- GNU ld leaves the negative of an address in its section
//# link: natures.o -pie -T x.ld
//# symbol: size section=ABS value=0x28
//# symbol: cond section=ABS value=7
//# symbol: nested section=ABS value=1
//# symbol: neg section=ABS
//# symbol: load section=ABS
//# symbol: inner section=ABS value=8
//# symbol: addr section=.data
//# symbol: known section=.text
//# check: relocs(R_X86_64_RELATIVE) == 2
.globl _start
_start: ret
.fill 7, 1, 0x90
.data
.quad size, cond, inner, addr, known
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text*) }
  .data : { *(.data*) inner = ABSOLUTE(SIZEOF(.text)); }
  size = SIZEOF(.data);
  neg = -_start;
  cond = DEFINED(nothere) ? nothere : 7;
  nested = (DEFINED(_start) ? DEFINED(nothere) ? nothere : 0 : _start) + 1;
  known = DEFINED(_start) ? _start : 7;
  load = LOADADDR(.data);
  addr = ADDR(.data);
}
