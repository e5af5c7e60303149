//# about: what happens to undefined symbols in libraries and executables, by option
//# link: -shared undefined-policy.o
//# dynsym: missing section=UND
//# fail: -shared undefined-policy.o -z defs
//# error: undefined symbol: missing
//# error: undefined-policy.o
//# fail: -shared undefined-policy.o --no-undefined
//# error: undefined symbol: missing
//# fail: undefined-policy.o
//# error: undefined symbol: missing
//# [!mold] link: undefined-policy.o --unresolved-symbols=ignore-all -o a
//# [lld|bfd|weld] link: undefined-policy.o --warn-unresolved-symbols -o b
//# [lld|bfd|weld] warning: missing
//# fail: undefined-policy.o --warn-unresolved-symbols --error-unresolved-symbols
//# error: undefined symbol: missing
//# [!mold] link: undefined-policy.o --noinhibit-exec -o c
//# [!mold] warning: missing
//# link: -shared undefined-policy.o -z defs -z undefs
.globl _start
_start: call missing@PLT
.section .note.GNU-stack,"",@progbits
