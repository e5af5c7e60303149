//# about: --exclude-libs hides what archives define
//# not: mold -- 1.10 hangs on lists
//# matrix: how=all,named,stem,other
//# obj: member.o = member.c -fPIC
//# obj: main.o = exclude-libs.c -fPIC
//# sh: ar rcs libm1.a member.o
//# [how=all] link: %shared main.o libm1.a --exclude-libs=ALL
//# [how=named] link: %shared main.o libm1.a --exclude-libs libfoo.a:libm1.a
//# [how=named weld] warning: no archive called libfoo\.a
//# [how=stem] not: lld -- only GNU ld takes names without .a
//# [how=stem] link: %shared main.o ./libm1.a --exclude-libs libm1
//# [how=other] link: %shared main.o libm1.a --exclude-libs=libm2.a,libm
//# [how=other weld] warning: no archive called libm2\.a
//# [how=other weld] warning: no archive called libm$
//# dynsym: f
//# [how=all|named|stem] no-dynsym: inside
//# [how=other] dynsym: inside
//# [how=all] obj: versioned.o = versioned.s
//# [how=all] sh: ar rcs libm1.a versioned.o
//# [how=all] link: %shared main.o --whole-archive libm1.a --no-whole-archive --exclude-libs=ALL
//# [how=all] no-dynsym: other@V1
int inside(void);
int f(void) { return inside(); }
//--- member.c
int inside(void) { return 1; }
//--- versioned.s
.globl spelled
.symver spelled, other@V1
spelled: ret
.section .note.GNU-stack,"",@progbits
