//# about: an object whose intermediate code is gone is not taken for one without code
//# only: weld -- others ask a plugin
//# obj: slim.o = slim.c @gcc -O1 -flto -fno-fat-lto-objects
//# sh: objcopy --wildcard -R '.gnu.lto_*' slim.o hollow.o
//# fail: -shared hollow.o
//# error: hollow\.o: says that it has intermediate code of GCC's only, but has none
int unused;
//--- slim.c
int f(void) { return 1; }
