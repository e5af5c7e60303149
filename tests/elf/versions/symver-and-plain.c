//# about: an older foo@V0 beside a foo that the script gives V0 as well: only the spelled one goes out
//# cflags: -fPIC
//# link: %shared symver-and-plain.o --version-script=v.map
//# dynsym: foo@V0
//# no-dynsym: foo@@V0
//# link: %shared symver-and-plain.o --version-script=other.map
//# dynsym: foo@V0
//# dynsym: foo@@V9
int old(void) { return 1; }
int foo(void) { return 2; }
__asm__(".symver old, foo@V0");
//--- v.map
V0 { foo; };
//--- other.map
V0 { };
V9 { foo; };
