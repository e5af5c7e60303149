//# about: of --defsym and an assignment in a script the later one on the command line counts, wherever the file stands
//# not: mold -- it has other rules
//# link: -shared script-defsym-order.o --defsym x=1 x.t
//# symbol: x value=2 section=ABS
//# link: -shared --defsym x=1 x.t script-defsym-order.o
//# symbol: x value=2 section=ABS
//# link: -shared script-defsym-order.o x.t --defsym x=1
//# symbol: x value=1 section=ABS
//# link: -shared script-defsym-order.o x.t --defsym x=1 --defsym x=3
//# symbol: x value=3 section=ABS
//# link: -shared script-defsym-order.o -T x.t --defsym x=1
//# symbol: x value=1 section=ABS
//# link: -shared script-defsym-order.o --defsym x=1 -T x.t
//# symbol: x value=2 section=ABS
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- x.t
x = 2;
