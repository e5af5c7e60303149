//# about: a shared object must define the versions that its symbols spell; an executable need not
//# fail: -shared unknown-version.o
//# [!mold] error: f@V9
//# [weld] error: unknown-version\.o
//# fail: -shared unknown-version.o --version-script=v.map
//# [!mold] error: V9
//# [!mold] link: unknown-version.o -e f_impl
//# [!mold] symbol: f_impl
.globl f_impl
.symver f_impl, f@V9
f_impl: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: *; };
