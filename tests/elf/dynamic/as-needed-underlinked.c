//# about: --as-needed keeps a library that only another needed library wants, which does not name it itself; not one that it brings, or refers to weakly
//# not: lld -- it leaves the library out
//# cflags: -fPIC
//# link: -shared foo.o -soname libfoo.so -o libfoo.so
//# link: -shared bar.o -soname libbar.so -o libbar.so
//# link: -shared foo.o libbar.so -soname libown.so -o libown.so
//# link: -shared weak.o -soname libweak.so -o libweak.so
//# link: %pie as-needed-underlinked.o --as-needed libfoo.so libbar.so
//# dynamic: NEEDED libfoo.so
//# dynamic: NEEDED libbar.so
//# run: ./out
//# exit: 7
//# link: -shared as-needed-underlinked.o --as-needed libfoo.so libbar.so -o shared.so
//# dynamic: NEEDED libbar.so
// It names what it uses.
//# link: %pie as-needed-underlinked.o --as-needed libown.so libbar.so -rpath-link . -o own
//# dynamic: NEEDED libown.so
//# no-dynamic: NEEDED libbar.so
//# run: ./own
//# exit: 7
//# link: %pie as-needed-underlinked.o --as-needed libweak.so libbar.so -o weak
//# no-dynamic: NEEDED libbar.so
//# run: ./weak
//# exit: 3
int foo(void);
int main(void) { return foo(); }
//--- foo.c
int bar(void);
int foo(void) { return bar(); }
//--- bar.c
int bar(void) { return 7; }
//--- weak.c
__attribute__((weak)) int bar(void);
int foo(void) { return bar ? bar() : 3; }
