//# about: a name that spells its version obeys the local patterns of that version's node, and no others
//# not: mold -- it exports it
//# link: -shared local-in-own-node.o --version-script=v.map -o own.so
//# no-dynsym: f@V1
//# dynsym: g@@V2
//# link: -shared local-in-own-node.o --version-script=w.map -o other.so
//# dynsym: f@V1
//# dynsym: g@@V2
//# link: -shared local-in-own-node.o --version-script=star.map -o star.so
//# no-dynsym: f@V1
//# dynsym: g@@V2
//# link: -shared local-in-own-node.o --version-script=named.map -o named.so
//# dynsym: f@V1
//# dynsym: g@@V2
.globl f1, g2
.symver f1, f@V1
.symver g2, g@@V2
f1: ret
g2: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { local: f*; };
V2 { global: g; };
//--- w.map
V1 { };
V2 { global: g; local: f; };
//--- star.map
V1 { global: other*; local: *; };
V2 { global: h*; local: *; };
//--- named.map
V1 { global: f; local: *; };
V2 { global: g*; local: *; };
