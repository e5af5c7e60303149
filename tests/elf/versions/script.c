//# about: a version script: global names and globs, local: *, inheritance
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# obj: lib.o = script.c -fPIC
//# link: %shared lib.o --version-script=v.map -soname libv.so.1 -o libv.so
//# def-version: V1
//# [weld|bfd] def-version: V2 V1
//# dynsym: one@@V1
//# dynsym: two@@V2
//# dynsym: two_more@@V2
//# no-dynsym: helper other
//# symbol: helper bind=LOCAL
//# dynamic: VERDEFNUM 3
//# dynamic: SONAME libv.so.1
int one(void) { return 1; }
int two(void) { return 2; }
int two_more(void) { return 2; }
int helper(void) { return 0; }
int other(void) { return 0; }
//--- v.map
V1 { global: one; local: *; };
# a comment
V2 { global: two; two_[a-m]*; /* another */ } V1;
