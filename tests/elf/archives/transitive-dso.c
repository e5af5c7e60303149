//# about: undefined symbols of a library may come from libraries it needs; unresolved ones are an error
//# obj: a.o = a.c -fPIC
//# obj: b.o = b.c -fPIC
//# link: %shared b.o -o libb.so
//# link: %shared a.o -L. -lb -rpath . -o liba.so
//# link: %pie transitive-dso.o -L. -la -rpath-link .
//# run: ./out
//# no-dynamic: NEEDED libb.so
//# link: %shared a.o -o liba2.so
//# [!mold] fail: %pie transitive-dso.o ./liba2.so
//# error: undefined.*: b
//# error: liba2.so
//# link: %pie transitive-dso.o ./liba2.so --allow-shlib-undefined -o out2
//# link: %pie transitive-dso.o ./liba2.so --unresolved-symbols=ignore-in-shared-libs -o out3
int a(void);
int main(void) { return a(); }
//--- a.c
int b(void);
int a(void) { return b(); }
//--- b.c
int b(void) { return 0; }
