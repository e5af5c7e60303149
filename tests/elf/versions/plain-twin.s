//# about: .symver f, f@V1 leaves f behind, which is not exported unless a script gives it a version of its own; of f and f@@V2 the latter counts
//# not: mold -- it exports both
//# link: -shared plain-twin.o --version-script=v.map
//# dynsym: f@V1
//# no-dynsym: f@@V1
//# dynsym: g@@V2
//# no-dynsym: h@V1
//# [!bfd] dynsym: h@@V2
.globl f, g, h
.symver f, f@V1
.symver g, g@@V2
.symver h, h@V1
f: ret
g: ret
h: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: f; g; local: *; };
V2 { global: h; };
