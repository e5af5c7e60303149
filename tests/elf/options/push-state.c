//# about: --push-state remembers -static, -Bstatic, --as-needed and --whole-archive
//# not: bfd -- its -static stays
//# not: mold -- 1.10 does not remember -static
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o liba.so -soname=liba.so
//# sh: ar rcs liba.a lib.o
//# link: %nopie push-state.o -L. --push-state -static --pop-state -la
//# dynamic: NEEDED liba.so
//# run: ./out
//# link: %nopie push-state.o -L. --push-state -Bstatic -la --pop-state
//# no-dynamic: NEEDED liba.so
//# link: %nopie push-state.o -L. --push-state --as-needed --whole-archive --pop-state -la
//# dynamic: NEEDED liba.so
int f(void);
int main(void) { return f(); }
//--- lib.c
int f(void) { return 0; }
