//# about: a library's reference to a name that another library has under an old version only is met
//# obj: old.o = old.c -fPIC
//# obj: user.o = user.c -fPIC
//# link: -shared old.o --version-script=v.map -soname libold.so -o libold.so
//# link: -shared user.o ./libold.so -soname libuser.so -o libuser.so
//# link: shared-references.o ./libuser.so ./libold.so -e start
//# fail: shared-references.o ./libuser.so gone.so -e start
//# error: gone\.so
//# [!bfd] link: shared-references.o ./libuser.so -e start
int f(void);
int start(void) { return f(); }
//--- user.c
int g(void);
__asm__(".symver g, g@V1");
int f(void) { return g(); }
//--- old.c
int g_old(void) { return 1; }
__asm__(".symver g_old, g@V1");
//--- v.map
V1 { };
