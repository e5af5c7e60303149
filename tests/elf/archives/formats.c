//# about: archives of every format, long and nested member names, with and without an index
//# matrix: format=gnu,gnu64,bsd,noindex,thin,thin-noindex,nested
//# [format=bsd|noindex|thin-noindex] not: bfd -- it insists on an index of its own format
//# [!format=bsd] sh: mkdir -p dir && cp a.o dir/a_member_with_a_very_long_name.o && cp b.o "dir/with space.o"
//# [format=bsd] sh: mkdir -p dir && cp a.o dir/a_member_with_a_very_long_name.o && cp b.o "dir/with space.o"
//# [format=gnu] sh: ar rcs libx.a dir/*.o
//# [format=gnu64] sh: SYM64_THRESHOLD=1 llvm-ar-22 rcs --format=gnu libx.a dir/*.o && head -c 20 libx.a | grep SYM64 >/dev/null
//# [format=bsd] sh: llvm-ar-22 rcs --format=bsd libx.a dir/*.o
//# [format=noindex] sh: ar rcS libx.a dir/*.o
//# [format=thin] sh: ar rcsT libx.a dir/*.o && rm -f a.o b.o
//# [format=thin-noindex] sh: ar rcST libx.a dir/*.o
//# [format=nested] sh: mkdir sub && cd sub && ar rcsT libx.a ../dir/*.o && cd .. && cp -r sub other && rm -rf sub && mkdir -p sub && ar rcsT libx.a dir/a_member_with_a_very_long_name.o && ar rcsT other.a other/libx.a "dir/with space.o" && mv other.a libx.a
//# link: %pie formats.o -L. -lx
//# run: ./out
//# stdout: 3
#include <stdio.h>
int a(void), b(void);
int main(void) { printf("%d\n", a() + b()); return 0; }
//--- a.c
int a(void) { return 1; }
//--- b.c
int b(void) { return 2; }
