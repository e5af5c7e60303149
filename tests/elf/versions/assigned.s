//# about: a script may assign to a name with a version, which is exported under that version
//# not: mold -- it has no versions for assigned names
//# link: -shared assigned.o assigned.t --version-script=v.map
//# dynsym: foo@@V2
//# dynsym: foo@V1
//# check: sym(foo) == dynsym(foo)
//# [weld] fail: -shared assigned.o unknown.t --version-script=v.map
//# [weld] error: foo@V3 has version V3, which no version script defines
.globl foo
foo: ret
.section .note.GNU-stack,"",@progbits
//--- assigned.t
"foo@V1" = foo;
//--- unknown.t
"foo@V3" = foo;
//--- v.map
V1 { };
V2 { foo; } V1;
