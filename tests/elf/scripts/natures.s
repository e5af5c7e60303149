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
// Chains are followed to their end, whatever their order is.
//# link: natures.o chain.o -pie -T chain.ld
//# symbol: a section=ABS value=40
//# symbol: f section=.text type=FUNC
//# symbol: redefined section=ABS type=NOTYPE value=5
//# check: relocs(R_X86_64_RELATIVE) == 3
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
//--- chain.s
.globl function
.type function,@function
function: ret
.data
.quad a, f
.section .note.GNU-stack,"",@progbits
//--- chain.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text*) }
  .data : { *(.data*) }
  size = SIZEOF(.data); cond = 7; inner = 8; addr = ADDR(.data); known = _start;
  redefined = f; redefined = 5;
  f = f1; f1 = f2; f2 = f3; f3 = f4; f4 = function;
  a = a1;
  a1 = a2 + 1;
  a2 = a3 + 1;
  a3 = a4 + 1;
  a4 = a5 + 1;
  a5 = a6 + 1;
  a6 = a7 + 1;
  a7 = a8 + 1;
  a8 = a9 + 1;
  a9 = a10 + 1;
  a10 = a11 + 1;
  a11 = a12 + 1;
  a12 = a13 + 1;
  a13 = a14 + 1;
  a14 = a15 + 1;
  a15 = a16 + 1;
  a16 = a17 + 1;
  a17 = a18 + 1;
  a18 = a19 + 1;
  a19 = a20 + 1;
  a20 = 21;
}
