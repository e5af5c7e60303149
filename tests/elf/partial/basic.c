//# about: -r joins objects into one that links and runs like them
//# not: mold -- 1.10 makes files that do not verify
//# matrix: cc=gcc,clang kind=static,pie
//# cflags: -g -ffunction-sections
//# link: -r basic.o two.o -o both.o
//# check: etype == 1
//# symbol: main type=FUNC
//# symbol: two type=FUNC
//# symbol: puts section=UND
//# section: .rela.eh_frame
//# link: %{kind} both.o
//# run: ./out
//# stdout: two
//# sh: llvm-dwarfdump-22 --verify out
#include <stdio.h>
const char *two(void);
int counter = 5;
int main(void) { puts(two()); return counter - 5; }
//--- two.c
const char *two(void) { static const char *const names[] = {"one", "two"}; return names[1]; }
