//# about: --print-dependencies and --print-archive-stats: which file uses which
//# only: weld -- each is another linker's
//# sh: ar rcs libx.a one.o two.o three.o && $LD -shared user.o -o libuser.so
//# link: uses.o libx.a ./libuser.so --print-dependencies --print-archive-stats=stats -o out
//# stdout-re: (?m)^uses\.o:\(\.text\)\tlibx\.a\(one\.o\):\(\.text\)\tu\tone$
//# stdout-re: (?m)^libx\.a\(one\.o\):\(\.text\)\tlibx\.a\(two\.o\):\(\.data\)\tw\ttwo$
//# stdout-re: (?m)^uses\.o:\(\.text\)\t\./libuser\.so\tu\tuser$
//# stdout-re: (?m)^\./libuser\.so\tlibx\.a\(one\.o\):\(\.text\)\tu\tone$
//# file: stats => ^members\textracted\tarchive\n3\t2\tlibx\.a\n$
//# fail: uses.o libx.a ./libuser.so --print-archive-stats=- -o -
//# error: --print-archive-stats and the output would both go to standard output
.globl _start
_start: call one
call one
call user@plt
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
.weak two
one: lea two(%rip), %rax
lea two2(%rip), %rax
call four
.globl four
four: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two, two2
.data
two: .byte 1
two2: .byte 2
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: ret
.section .note.GNU-stack,"",@progbits
//--- user.s
.globl user
user: call one@plt
.section .note.GNU-stack,"",@progbits
