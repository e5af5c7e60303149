//# about: CREL relocations, as compact as clang writes them
//# matrix: kind=static,pie
//# not: mold bfd -- they know no CREL
//# cflags: -Wa,--crel,--allow-experimental-crel -g -ffunction-sections
//# obj: crel.o = crel.c @clang
//# obj: two.o = two.c @clang
//# link: %{kind} crel.o two.o --gc-sections
//# run: ./out
//# stdout: 15 two
//# sh: llvm-dwarfdump-22 --verify out
#include <stdio.h>
int table[5] = {1, 2, 3, 4, 5};
int *pointers[5] = {&table[4], &table[3], &table[2], &table[1], table};
const char *name(void);
int main(void) {
  int sum = 0;
  for (int i = 0; i < 5; i++) sum += *pointers[i];
  printf("%d %s\n", sum, name());
  return 0;
}
//--- two.c
static const char *const names[] = {"one", "two"};
const char *volatile const *p = (const char *volatile const *)&names[1];
const char *name(void) { return *p; }
