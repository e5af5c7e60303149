//# about: --exclude-libs hides what archives define
//# not: mold -- 1.10 hangs on lists
//# matrix: how=all,named,other
//# obj: member.o = member.c -fPIC
//# obj: main.o = exclude-libs.c -fPIC
//# sh: ar rcs libm1.a member.o
//# [how=all] link: %shared main.o libm1.a --exclude-libs=ALL
//# [how=named] link: %shared main.o libm1.a --exclude-libs libfoo.a:libm1.a
//# [how=other] link: %shared main.o libm1.a --exclude-libs=libm2.a,libm3.a
//# dynsym: f
//# [how=all|named] no-dynsym: inside
//# [how=other] dynsym: inside
int inside(void);
int f(void) { return inside(); }
//--- member.c
int inside(void) { return 1; }
