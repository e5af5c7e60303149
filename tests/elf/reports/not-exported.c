//# about: a library wants a symbol that the executable defines and does not export
//# only: weld lld -- others let the loader find out
//# obj: lib.o = lib.c -fPIC
//# link: -shared lib.o -o libx.so
//# fail: not-exported.o ./libx.so -e start
//# error: (?i)export.*wanted|wanted
//# error: not-exported\.o
//# error: libx\.so
//# link: not-exported.o ./libx.so -e start --allow-shlib-undefined
//# link: not-exported.o ./libx.so -e start --no-allow-shlib-undefined --warn-unresolved-symbols
//# warning: wanted
int f(void);
__attribute__((visibility("hidden"))) int wanted(void) { return 1; }
int start(void) { return f(); }
//--- lib.c
int wanted(void);
int f(void) { return wanted(); }
