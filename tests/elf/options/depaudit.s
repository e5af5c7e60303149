//# about: -P joined; DT_AUDIT of a needed library becomes DT_DEPAUDIT; -r takes --export-dynamic; --orphan-handling says that it does nothing
//# not: lld -- it has no such entries
//# not: mold -- 1.10 leaves DT_AUDIT alone
//# link: -shared depaudit.o --audit=first -o lib.so
//# obj: main.o = main.s
//# link: main.o lib.so -Pown --audit last
//# dynamic: DEPAUDIT own:first
//# dynamic: AUDIT last
//# link: main.o lib.so -P own
//# dynamic: DEPAUDIT own:first
//# [weld] link: depaudit.o main.o --as-needed lib.so
//# [weld] no-dynamic: DEPAUDIT first
//# link: -r main.o --export-dynamic
//# [weld] link: main.o lib.so --orphan-handling=warn
//# [weld] warning: --orphan-handling=warn has no effect
//# link: main.o lib.so --orphan-handling=place
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- main.s
.globl _start
_start: call f
.section .note.GNU-stack,"",@progbits
