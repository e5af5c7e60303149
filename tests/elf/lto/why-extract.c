//# about: --why-extract says that a file was read because code generation may call what is in it, and who asked for what that file needs
//# matrix: lto=full,thin
//# not: bfd mold lld -- clang's bitcode takes a plugin of LLVM's; ld.lld's words
//# obj: why-extract.o = why-extract.c @clang -O2 -fno-builtin -flto={lto}
//# obj: copy.o = copy.c @clang -O2 -ffreestanding -fno-builtin -flto={lto}
//# obj: deeper.o = deeper.c @clang -O2 -flto={lto}
//# sh: llvm-ar-22 rcs libx.a copy.o deeper.o
//# link: why-extract.o libx.a -e start --why-extract=why.txt
//# file: why.txt => <libcall>\tlibx\.a\(copy\.o\)\tmemcpy
//# file: why.txt => libx\.a\(copy\.o\)\tlibx\.a\(deeper\.o\)\tdeeper
struct big { char bytes[4096]; };
void take(struct big *to, const struct big *from) { *to = *from; }
void start(void) { static struct big a, b; take(&a, &b); __builtin_trap(); }
//--- copy.c
int deeper(int);
void *memcpy(void *to, const void *from, unsigned long size) {
  char *out = to; const char *in = from;
  for (unsigned long i = 0; i < size; i++) out[i] = in[i];
  deeper((int)size);
  return to;
}
//--- deeper.c
int count;
int deeper(int x) { return count += x; }
