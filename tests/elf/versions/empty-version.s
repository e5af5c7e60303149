//# about: foo@ and foo@@ have no version: they are exported as foo whatever a version script says
//# not: lld -- it has no empty versions
//# not: mold -- 1.10 has none either
//# link: -shared empty-version.o
//# dynsym: foo
//# dynsym: bar
//# link: -shared empty-version.o --version-script=v.map
//# dynsym: foo
//# [weld] dynsym: bar
//# no-dynsym: foo_1
//# no-dynsym: other
//# sh: rm -f lib.a && ar rcs lib.a empty-version.o
//# obj: user.o = user.s
//# link: -shared user.o lib.a
//# dynsym: bar
//# link: -shared both.o --version-script=both.map -o both.so
//# dynsym: foo
//# dynsym: foo@@V1
.globl foo_1, bar_1, other
.symver foo_1, foo@@
.symver bar_1, bar@
foo_1: ret
bar_1: ret
other: ret
.section .note.GNU-stack,"",@progbits
//--- user.s
call bar@PLT
.section .note.GNU-stack,"",@progbits
//--- v.map
{ local: *; };
//--- both.s
.globl foo_1, foo_2
.symver foo_1, foo@, remove
.symver foo_2, foo@@V1, remove
foo_1: ret
nop
foo_2: ret
call foo_1
.section .note.GNU-stack,"",@progbits
//--- both.map
V1 { foo; };
