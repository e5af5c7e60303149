//# about: --defsym to what has no address: undefined, in a library, itself; a chain in any order is fine
//# obj: lib.o = lib.c -fPIC
//# link: -shared lib.o -o libx.so
//# not: bfd mold lld -- each accepts some with a value of 0
//# fail: defsym-errors.o --defsym=a=nothere -e start
//# error: --defsym=a: nothere is not defined
//# fail: defsym-errors.o ./libx.so --defsym=a=shared -e start
//# error: --defsym=a: shared is in a shared object
//# fail: defsym-errors.o --defsym=a=b --defsym=b=c+1 --defsym=c=a -e start
//# error: depends on itself
//# link: defsym-errors.o --defsym=a=b+1 --defsym=b=c+1 --defsym=c=d+1 --defsym=d=e+1 --defsym=e=f+1 --defsym=f=g+1 --defsym=g=start -e start
//# check: sym(a) == sym(start) + 6
//# link: defsym-errors.o --defsym=a=1 --defsym=a=start -e start
//# check: sym(a) == sym(start)
extern int a;
int start(void) { return (int)(long)&a; }
//--- lib.c
int shared = 1;
