//# about: -z now --disable-new-dtags: as GNU ld, the old tag; ld.lld has no such
//# only: weld bfd -- ld.lld and mold have no such tag
//# link: -shared bind-now-tag.o -z now --disable-new-dtags
//# dynamic: BIND_NOW
//# no-dynamic: FLAGS
//# [weld] sh: $LD_DIR/ld.lld -shared bind-now-tag.o -z now --disable-new-dtags -o lld
//# [weld] in: lld
//# [weld] dynamic: FLAGS BIND_NOW
//# [weld] no-dynamic: BIND_NOW
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
