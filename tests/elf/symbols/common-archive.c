//# about: a common symbol pulls the first member that really defines it, wherever the archive stands
//# sh: rm -f libx.a && ar rcs libx.a also-common.o def.o later.o
//# cflags: -fcommon
//# not: lld -- it does so with --fortran-common only
//# link: %pie common-archive.o libx.a
//# run: ./out
//# stdout: 7
//# [!bfd] link: %pie libx.a common-archive.o
//# [!bfd] run: ./out
//# [!bfd] stdout: 7
//# [!bfd] link: %pie --start-lib later.o def.o --end-lib common-archive.o
//# [!bfd] run: ./out
//# [!bfd] stdout: 8
//# [weld] link: %pie common-archive.o libx.a --no-fortran-common
//# [weld] run: ./out
//# [weld] stdout: 0
//# [weld] link: %pie common-archive.o libx.a --why-extract=-
//# [weld] stdout-re: libx\.a\(def\.o\)\s+value
//# [weld] stdout-not: also-common
#include <stdio.h>
int value;
int main(void) { printf("%d\n", value); return 0; }
//--- also-common.c
int value;
//--- def.c
extern int value;
int value = 7;
//--- later.c
extern int value;
int value = 8;
