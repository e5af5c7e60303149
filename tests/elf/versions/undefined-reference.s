//# about: a reference with a version that no library has cannot be left to the loader, not even in a shared object
//# not: mold -- it drops the version
//# link: -shared lib.o --version-script=lib.map -o lib.so
//# link: -shared lib.o -o plain.so
//# link: -shared undefined-reference.o lib.so -o out.so
//# need-version: lib.so V1
//# fail: -shared undefined-reference.o -o out.so
//# error: foo@V1
//# fail: -shared undefined-reference.o plain.so -o out.so
//# error: foo@V1
//# [weld|lld] fail: -shared undefined-reference.o lib.o --unresolved-symbols=ignore-all -o out.so
//# [weld|lld] error: undefined symbol: foo@V1
.globl f
f: call foo_v1@PLT
.symver foo_v1, foo@V1
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl foo
.type foo, @function
foo: ret
.section .note.GNU-stack,"",@progbits
//--- lib.map
V1 { global: foo; };
