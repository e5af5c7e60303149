//# about: --hash-style
//# matrix: style=gnu,sysv,both
//# link: -shared hash-style.o --hash-style={style}
//# [style=gnu|both] section: .gnu.hash type=GNU_HASH
//# [style=gnu|both] dynamic: GNU_HASH
//# [style=sysv|both] section: .hash type=HASH
//# [style=sysv|both] dynamic: HASH
//# [style=gnu] no-section: .hash
//# [style=sysv] no-section: .gnu.hash
.globl a, b, c, d, e, ff
a: b: c: d: e: ff: call undefined1@PLT
  call undefined2@PLT
.section .note.GNU-stack,"",@progbits
