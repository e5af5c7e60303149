//# about: --wrap redirects names in expressions of options and scripts, and what an object defined in a COMDAT group that lost
//# obj: a.o = wrap-expressions.s
//# link: a.o b.o --defsym=by_option=foo --defsym=real=__real_foo --wrap=foo x.ld
//# check: sym(by_option) == sym(__wrap_foo) == sym(in_script) == sym(summed) - 4
//# check: sym(real) == sym(foo) == sym(real_in_script)
//# check: sym(asked) == 1
//# disasm: _start => call.*<(foo|real|real_in_script)>
//# disasm: second => call.*<(__wrap_foo|by_option|in_script)>
// In a layout, too.
//# link: -T y.ld a.o b.o --wrap=foo -o laid-out
//# check: sym(in_script) == sym(__wrap_foo)
//# bytes: sym(data) = 03 00 00 00
.globl _start, __wrap_foo
.section .text.foo,"axG",@progbits,foo,comdat
.weak foo
foo: ret
.text
_start: call foo
__wrap_foo: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.section .text.foo,"axG",@progbits,foo,comdat
.weak foo
foo: nop
  ret
.text
.globl second
second: call foo
.section .note.GNU-stack,"",@progbits
//--- x.ld
in_script = foo;
summed = 4 + foo;
real_in_script = __real_foo;
asked = DEFINED(foo);
//--- y.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text*) }
  in_script = foo;
  .data : { data = .; LONG(DEFINED(foo) + 2 * DEFINED(__real_foo)) }
}
