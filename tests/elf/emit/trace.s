//# about: --trace lists inputs as they are used, -y who defines and refers to a symbol
//# sh: ar rcs libx.a two.o three.o
//# link: trace.o libx.a --trace
//# [!mold] stdout-re: ^trace\.o$
//# [!bfd] stdout-re: libx\.a.*two\.o
//# [!bfd !mold] stdout-not: three\.o
//# [!mold !bfd] link: trace.o libx.a -y two --trace-symbol=three
//# [!mold !bfd] stdout-re: trace\.o: reference to two
//# [!mold !bfd] stdout-re: libx\.a.*two\.o.*: definition of two
.globl _start
_start: call two
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: ret
.section .note.GNU-stack,"",@progbits
