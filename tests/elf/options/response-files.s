//# about: response files: nested, quoted, with comments of blanks, missing ones taken as names
//# not: mold -- 1.10 does not nest them
//# obj: response-files.o = response-files.s
//# obj: a.o = a.s
//# link: -o "a b" @outer.rsp
//# check: sym(a) > 0
//# sh: test -f "a b"
//# fail: @missing.rsp
//# error: missing.rsp
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl a
a: ret
.section .note.GNU-stack,"",@progbits
//--- outer.rsp
response-files.o @inner.rsp
"-L/with space"
--defsym 'x=1'
//--- inner.rsp
a.o
  --defsym=y\=2
