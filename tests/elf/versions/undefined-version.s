//# about: a name without a symbol: an error with --no-undefined-version, silence with the other and by default, a warning under ld.lld's name
//# not: mold bfd -- defaults differ
//# link: -shared undefined-version.o --version-script=v.map --undefined-version
//# dynsym: f@@V1
//# fail: -shared undefined-version.o --version-script=v.map --no-undefined-version
//# error: nothere
//# [weld] link: -shared undefined-version.o --version-script=v.map --fatal-warnings
//# [weld] sh: $LD_DIR/ld.lld -shared undefined-version.o --version-script=v.map -o lld.so
//# [weld] stderr-re: v\.map:1: .*nothere.*not defined
//# [weld] sh-fail: $LD_DIR/ld.lld -shared undefined-version.o --version-script=v.map -o lld.so --fatal-warnings
//# [weld] stderr-re: nothere
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: f; nothere; local: *; };
