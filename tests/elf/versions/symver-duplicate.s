//# about: foo@@V answers to foo@V, too: an object that defines both defines it twice. Two names of one place are one
//# obj: twice.o = twice.s
//# obj: once.o = once.s
//# fail: -shared twice.o --version-script=v.map
//# error: foo
//# [weld] link: -shared once.o --version-script=v.map
//# [weld] dynsym: foo@@V
//# [weld] no-dynsym: foo@V
//# link: -shared symver-duplicate.o --version-script=v.map
//# dynsym: foo@V
//# dynsym: foo@@V2
.globl foo_1, foo_2
.symver foo_1, foo@V
.symver foo_2, foo@@V2
foo_1: ret
foo_2: ret
.section .note.GNU-stack,"",@progbits
//--- twice.s
.globl foo_1, foo_2
.symver foo_1, foo@V
.symver foo_2, foo@@V
foo_1: ret
foo_2: ret
.section .note.GNU-stack,"",@progbits
//--- once.s
.globl foo_1
.symver foo_1, foo@V
.symver foo_1, foo@@V
foo_1: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V { };
V2 { } V;
