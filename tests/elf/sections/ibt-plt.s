//# about: PLT entries start with endbr64 when all objects are marked for IBT
//# matrix: bind=lazy,now
//# not: mold -- 1.10 has only one kind of PLT
//# link: -shared ibt-plt.o -z {bind}
//# section: .plt.sec flags=AX
//# bytes: addr(.plt.sec) = f3 0f 1e fa
//# check: sym(f) + 5 + s32(sym(f) + 1) == addr(.plt.sec)
//# [bind=lazy !bfd] check: u64(addr(.got.plt) + 24) == addr(.plt) + 16
//# [bind=lazy] bytes: addr(.plt) + 16 = f3 0f 1e fa 68 00 00 00 00
.globl f
f: call ext@PLT
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000002, 4, 3, 0
.section .note.GNU-stack,"",@progbits
