//# about: .symver x,x@V0 for a symbol of its own name: the library's own references are bound by the loader, so that a copy in the program is what both use
//# not: mold -- it exports both names
//# matrix: bind=none,functions
//# cflags: -fPIC
//# obj: user.o = user.c -fPIC
//# [bind=none] link: %shared old-name-preempt.o user.o --version-script=v.map -o libx.so
//# [bind=functions] link: %shared old-name-preempt.o user.o --version-script=v.map -Bsymbolic-functions -o libx.so
//# dynsym: x@V0
//# no-dynsym: x@@V0
//# reloc: R_X86_64_GLOB_DAT sym=x
//# [bind=none] reloc: * sym=f
//# [bind=functions] no-reloc: * sym=f
//# obj: main.o = main.c -fno-pie
//# link: %nopie main.o libx.so
//# run: ./out
int x = 12;
int f(void) { return x; }
__asm__(".symver x,x@V0\n.symver f,f@V0");
int *address(void) { return &x; }
int call(void) { return f(); }
void *function(void) { return (void *)f; }
//--- user.c
extern int x;
void set(int v) { x = v; }
//--- main.c
extern int x;
int f(void);
__asm__(".symver x,x@V0\n.symver f,f@V0");
int *address(void), call(void);
void set(int), *function(void);
int main(void) {
  set(99);
  return !(x == 99 && &x == address() && f() == 99 && call() == 99);
}
//--- v.map
V0 { global: x; f; address; call; function; set; local: *; };
