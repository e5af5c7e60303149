//# about: an executable exports its foo@V if a library defines or wants that version and the executable defines it, too
//# not: bfd mold -- they do not
//# link: -shared --version-script=v.map -soname lib.so lib.o -o lib.so
//# link: --version-script=v.map interposed.o lib.so
//# dynsym: f@V1
//# no-dynsym: g
//# dynsym: h@@V2
//# link: -shared user.o lib.so -soname user.so -o user.so
//# need-version: lib.so V1
//# link: -pie --version-script=v.map interposed.o user.so -o pie
//# dynsym: f@V1
//# link: -pie only.o user.so -o only
//# no-dynsym: f
.globl _start, f_old, g_old, h_new
.symver f_old, f@V1, remove
.symver g_old, g@V2, remove
.symver h_new, h@@V2, remove
_start: ret
f_old: ret
g_old: ret
h_new: ret
.section .note.GNU-stack,"",@progbits
//--- only.s
.globl _start, f_old
.symver f_old, f@V1, remove
_start: ret
f_old: ret
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl f_old, g_old, h_new
.symver f_old, f@V1, remove
.symver g_old, g@V1, remove
.symver h_new, h@@V2, remove
f_old: ret
g_old: ret
h_new: ret
.section .note.GNU-stack,"",@progbits
//--- user.s
.symver f, f@V1
.globl user
user: call f@PLT
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { };
V2 { };
