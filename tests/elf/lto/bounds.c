//# about: bounds of sections, constructors, retained variables and runtime calls in bitcode
//# matrix: lto=full,thin gc=--gc-sections,--no-gc-sections
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: bounds.o = bounds.c @clang -O2 -flto={lto}
//# obj: set.o = set.c @clang -O2 -flto={lto}
//# link: %pie {gc} -z nostart-stop-gc bounds.o set.o
//# run:
//# stdout: constructed 3 entries, tls 5, copied 9
#include <stdio.h>
#include <string.h>

extern int __start_set[], __stop_set[];
extern __thread int local;
extern void change(void);

struct large { char bytes[4096]; };
// A copy of that size is a call of memcpy, which only code generation makes.
__attribute__((noinline)) void copy(struct large *to, struct large *from) { *to = *from; }

int main(void) {
  static struct large a, b;
  a.bytes[4095] = 9;
  copy(&b, &a);
  change();
  printf("%d entries, tls %d, copied %d\n", (int)(__stop_set - __start_set), local, b.bytes[4095]);
}
//--- set.c
#include <stdio.h>
#define ENTRY __attribute__((section("set"), used))
ENTRY static int one = 1;
ENTRY static int two = 2;
ENTRY static int three = 3;
__thread int local = 4;
void change(void) { local++; }
__attribute__((constructor)) static void construct(void) { printf("constructed "); }
