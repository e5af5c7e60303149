//# about: DT_NEEDED follows the command line; a library named twice appears once; -l and path may differ
//# obj: a.o = a.c -fPIC
//# obj: b.o = b.c -fPIC
//# link: %shared a.o -soname liba.so.1 -o liba.so
//# link: %shared b.o -o libb.so
//# link: %pie needed-order.o --no-as-needed ./libb.so -L. -la -la liba.so
//# readelf: -d => NEEDED.*\[./libb.so\]\n.*NEEDED.*\[liba.so.1\]\n.*NEEDED.*\[libc.so.6\]
int a(void);
int main(void) { return a(); }
//--- a.c
int a(void) { return 0; }
//--- b.c
int b(void) { return 0; }
