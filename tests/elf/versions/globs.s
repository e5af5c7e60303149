//# about: a global pattern wins over a local one of any node, and the latest of several counts; a lone * comes last
//# not: lld -- a local pattern of a later node wins
//# not: mold -- it has rules of its own
//# link: -shared globs.o --version-script=v.map
//# dynsym: foo@@V1
//# dynsym: far@@V1
//# dynsym: bar@@V2
//# no-dynsym: baz
//# dynsym: other@@V3
.globl foo, far, bar, baz, other
foo: ret
far: ret
bar: ret
baz: ret
other: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: f*; ba*; };
V2 { global: bar*; local: fo*; baz; };
V3 { global: *; };
