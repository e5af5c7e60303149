//# about: PROVIDE is for what nothing has defined where it stands: no object, no option, nothing before it in the scripts
//# not: mold -- it reads no SECTIONS
//# link: provided-once.o -T x.ld y.ld --defsym=option=4
//# check: sym(first) == 1 == sym(inside) - addr(.text) - 1
//# check: sym(assigned) == 3
//# check: sym(option) == 4
//# check: sym(hidden) == 5
//# check: sym(object) == addr(.text)
//# symbol: hidden vis=HIDDEN
//# check: sym(again) == 8
.globl _start, object
object:
_start: ret
.data
.quad first, inside, assigned, option, hidden, object, again
.section .note.GNU-stack,"",@progbits
//--- x.ld
PROVIDE(first = 1); PROVIDE(first = 2);
assigned = 3; PROVIDE(assigned = 4);
PROVIDE(option = 5);
PROVIDE_HIDDEN(hidden = 5); PROVIDE(hidden = 6);
PROVIDE(object = 7);
PROVIDE(again = 7); again = 8;
SECTIONS {
  .text 0x10000 : { *(.text) . += 1; PROVIDE(inside = .); PROVIDE(inside = 1); }
  .data : { *(.data) }
}
PROVIDE(inside = 9);
//--- y.ld
PROVIDE(first = 3);
