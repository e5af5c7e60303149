//# about: archives alone: members are read for the entry, -u and -e
//# sh: ar rcs libx.a archives-only.o f.o; ar rcs libempty.a
//# link: libx.a
//# symbol: _start
//# no-symbol: f
//# link: -u f libx.a -o u
//# symbol: f
//# symbol: _start
//# link: -shared -u f libx.a -o shared
//# dynsym: f
//# [weld|bfd] no-symbol: _start
//# link: -shared -e _start libx.a -o entry
//# check: entry == sym(_start)
//# link: -r -u f libx.a -o r.o
//# symbol: f
//# no-symbol: _start
//# link: -r libx.a -o none.o
//# no-symbol: f
//# link: --whole-archive libx.a -o whole
//# symbol: f
//# [!bfd] link: -shared libempty.a -o empty
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- f.s
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
