//# about: a pattern without a symbol: an error with --no-undefined-version, silence with the other
//# not: mold bfd -- defaults differ
//# link: -shared undefined-version.o --version-script=v.map --undefined-version
//# dynsym: f@@V1
//# fail: -shared undefined-version.o --version-script=v.map --no-undefined-version
//# error: nothere
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: f; nothere; local: *; };
