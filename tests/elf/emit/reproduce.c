//# about: --reproduce writes a tar that links the same bytes elsewhere
//# not: mold bfd -- another layout, no such option
//# sh: ar rcs libx.a two.o && mkdir -p sub && cp three.o sub/
//# link: %pie reproduce.o -L. -lx @args.rsp --version-script=v.map -E --reproduce=r.tar -o out
//# sh: mkdir there && tar -xf r.tar -C there && rm -f reproduce.o libx.a && cd there/* && $LD @response.txt -o again && cmp again ../../out
//# run: ./out
//# stdout: 5
#include <stdio.h>
int two(void), three(void);
int main(void) { printf("%d\n", two() + three()); return 0; }
//--- two.c
int two(void) { return 2; }
//--- three.c
int three(void) { return 3; }
//--- args.rsp
"sub/three.o" --as-needed
//--- v.map
{ global: main; local: *; };
