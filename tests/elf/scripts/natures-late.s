//# about: whether a script's value is a number or an address is known only when everything has its address: what the loader adjusts follows that
// `n…` are numbers, `a…` addresses that move.
//# only: weld bfd -- in ld.lld an addition to an object's symbol does not converge
//# [weld] link: natures-late.o -pie -T x.ld --defsym late=1
//# [bfd] link: natures-late.o -pie --no-dynamic-linker -T x.ld --defsym late=1
//# symbol: n1 section=ABS value=3
//# symbol: n2 section=ABS value=3
//# symbol: n3 section=ABS value=3
//# symbol: n4 section=ABS value=3
//# symbol: n5 section=ABS value=3
//# symbol: n6 section=ABS value=3
//# symbol: n7 section=ABS value=7
//# symbol: n8 section=ABS value=3
//# symbol: five section=ABS value=6
//# symbol: a1 section=.text
//# symbol: a2 section=.data
//# check: relocs(R_X86_64_RELATIVE) == 2
// A value from before the object's name is assigned to is what that becomes, as in both; only the assignment itself sees what the object has.
//# check: u64(sym(table)) == 3 == u64(sym(table)+40)
//# check: u64(sym(table)+48) == 7
// The type of what it is another name of.
//# link: types.o -shared -T types.ld
//# symbol: f1 type=FUNC section=.text
//# symbol: f2 type=FUNC section=.text
//# symbol: f3 type=FUNC section=.text
//# symbol: f4 type=FUNC section=.text
//# symbol: f5 type=FUNC
//# symbol: o1 type=OBJECT section=.data
//# symbol: t1 type=TLS section=.tdata
//# symbol: i1 type=IFUNC section=.text
//# symbol: x2 type=NOTYPE
//# symbol: x1 type=NOTYPE section=ABS value=0
// What asks only for itself is not there.
//# fail: natures-late.o -pie -T itself.ld
//# error: itself.ld:3:.*(symbol lone is not defined|undefined symbol `lone')
//# fail: natures-late.o -pie -T itself.ld --defsym lone=1
//# error: itself.ld:4:.*(symbol more is not defined|undefined symbol `more')
// Where that never ends, the assignment is named.
//# [weld] fail: swings.o -pie -T swings.ld
//# [weld] error: swings.ld:3:.* whether this is an address or a number depends on where everything lies
//# [weld] fail: types.o -pie -T circle.ld
//# [weld] error: does not settle: addresses still change after 32 passes, that of symbol c[12] among them
.globl _start, sym1, five, six, table
five = 5
six = 6
_start: ret
sym1: ret
.data
table: .quad n1, n2, n3, n4, n5, n6, n7, n8, a1, a2
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = SIZEOF_HEADERS;
  .text : { *(.text*) }
  .rela.dyn : { *(.rela*) }
  .dynamic : { *(.dynamic) }
  . = ALIGN(0x1000);
  .data : { *(.data*) }
  one = 1;
  n1 = 0 ? _start : 3;
  n2 = one ? 3 : ADDR(.text);
  n3 = six == 6 ? 3 : .;
  n4 = MIN(_start, 3);
  n5 = SIZEOF(.text) > 1000 ? _start : 3;
  five = five + 1;
  n6 = five - 3;
  n7 = sym1;
  PROVIDE(n8 = ADDR(.data) > 0x100000 ? . : 3);
  a1 = SIZEOF(.text) < 1000 ? _start : 3;
  a2 = a3;
  a3 = n7 == 7 ? table : 3;
  sym1 = 7;
}
//--- types.s
.globl f, o, t, i, g
.type f,@function
f: ret
.type i,@gnu_indirect_function
i: ret
.type o,@object
.data
o: .quad 1
.section .tdata,"awT"
.type t,@tls_object
t: .quad 1
.section .note.GNU-stack,"",@progbits
//--- types.ld
SECTIONS {
  .text : { *(.text*) }
  .rela.dyn : { *(.rela*) }
  .tdata : { *(.tdata) }
  .data : { *(.data*) }
  f1 = 1 ? f : 0;
  f2 = DEFINED(f) ? f : 0;
  f3 = SIZEOF(.text) > 0 ? f1 : o;
  f4 = DEFINED(nothere) ? nothere : f;
  f5 = 1 ? 2 + f - 1 : 0;
  o1 = SIZEOF(.text) > 1000 ? f : o;
  t1 = SIZEOF(.text) > 0 ? t : 0;
  i1 = SIZEOF(.text) > 1000 ? 0 : i;
  x2 = f + 0x10000 - o;
  x1 = SIZEOF(.text) > 1000 ? f : 0;
}
//--- itself.ld
SECTIONS {
  n1 = 0; n2 = 0; n3 = 0; n4 = 0; n5 = 0; n6 = 0; n7 = 0; n8 = 0; a1 = 0;
  PROVIDE(a2 = lone); PROVIDE(lone = lone + 1);
  more += 1;
}
//--- swings.s
.data
.quad swings
.section .note.GNU-stack,"",@progbits
//--- swings.ld
SECTIONS {
  .text : { *(.text*) } .rela.dyn : { *(.rela*) } .data : { *(.data*) }
  swings = SIZEOF(.rela.dyn) > 0 ? 3 : .;
}
//--- circle.ld
SECTIONS {
  .text : { *(.text*) } .data : { *(.data*) } .tdata : { *(.tdata) }
  c1 = c2 + 1;
  c2 = c1;
}
