//# about: -l finds lib*.so before lib*.a in a directory, directories in order; -l:NAME; -Bstatic
//# link: -shared d.o -soname=libd.so -o d.so
//# sh: mkdir one two && cp d.so one/libx.so && ar rcs one/libx.a a.o && ar rcs two/libx.a a.o && cp d.so two/libx.so && ar rcs two/liby.a a.o
//# link: lib-search.o -L one -lx -o out
//# dynamic: NEEDED libd.so
//# link: lib-search.o -Lone -l:libx.a -o out
//# no-section: .dynamic
//# link: lib-search.o -Bstatic -L one -lx -o out
//# no-section: .dynamic
//# link: lib-search.o -Bstatic -L one -Bdynamic -lx
//# dynamic: NEEDED libd.so
//# link: lib-search.o -dn -L one -lx -dy
//# no-section: .dynamic
//# [!mold] link: lib-search.o --library-path=one --library-path two --library y
//# no-section: .dynamic
.globl _start
_start: mov f@GOTPCREL(%rip), %rax
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- d.s
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
