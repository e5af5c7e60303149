//# about: a name without a symbol: an error with --no-undefined-version, silence with the other, a warning by default
//# not: mold bfd -- defaults differ
//# link: -shared undefined-version.o --version-script=v.map --undefined-version
//# dynsym: f@@V1
//# fail: -shared undefined-version.o --version-script=v.map --no-undefined-version
//# error: nothere
//# [weld] link: -shared undefined-version.o --version-script=v.map
//# [weld] warning: v\.map:1: .*nothere.*not defined
//# [weld] once
//# [weld] fail: -shared undefined-version.o --version-script=v.map --fatal-warnings
//# [weld] error: nothere
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: f; nothere; local: *; };
