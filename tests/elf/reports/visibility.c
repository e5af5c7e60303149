//# about: references that are not of default visibility must be met in this output; a library's definition is named, not taken
//# matrix: vis=hidden,protected,internal
//# obj: lib.o = lib.c -fPIC
//# obj: visibility.o = visibility.c -fPIC -DVIS="{vis}"
//# link: %shared lib.o -o libx.so
//# fail: %pie visibility.o -L. -lx
//# error: undefined.*: var
//# [weld|lld] error: undefined (hidden|protected|internal) symbol: var
//# [weld] error: libx\.so defines it, but the declaration's visibility
//# not: bfd mold -- they bind it
#define STR2(x) #x
#define STR(x) STR2(x)
extern int var __attribute__((visibility(STR(VIS))));
int main(void) { return var; }
//--- lib.c
int var = 1;
