//# about: --why-extract: options as reasons, members that members need, lazy objects, libraries that refer; - is standard output
//# only: weld lld -- others have no such option
//# sh: ar rcs libx.a one.o two.o three.o && $LD -shared user.o -o libuser.so
//# link: why-extract.o libx.a --start-lib lazy.o --end-lib ./libuser.so -u three --why-extract=-
//# stdout-re: (?m)^why-extract\.o\tlibx\.a\(one\.o\)\tone$
//# stdout-re: (?m)^libx\.a\(one\.o\)\tlibx\.a\(two\.o\)\ttwo$
//# [weld] stdout-re: (?m)^--undefined\tlibx\.a\(three\.o\)\tthree$
//# stdout-re: (?m)^\./libuser\.so\tlazy\.o\tlazy\(int\)$
//# stdout-not: unused
.globl _start
_start: call one
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: call two
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: ret
.section .note.GNU-stack,"",@progbits
//--- lazy.s
.globl _Z4lazyi
_Z4lazyi: ret
.section .note.GNU-stack,"",@progbits
//--- user.s
.globl user
user: call _Z4lazyi@PLT
.section .note.GNU-stack,"",@progbits
