//# about: initial-exec TLS in a shared object sets DF_STATIC_TLS
//# obj: lib.o = lib.c -fPIC -ftls-model=initial-exec
//# link: %shared lib.o -o liblib.so
//# dynamic: FLAGS STATIC_TLS
//# reloc: TPOFF64 sym=e count=1
//# reloc: TPOFF64 count=2
//# link: %pie initial-exec-shared.o -L. -llib
//# run: ./out
//# stdout: 3 4
#include <stdio.h>
int get_e(void), get_l(void);
int main(void) { printf("%d %d\n", get_e(), get_l()); return 0; }
//--- lib.c
__thread int e = 3;
static volatile __thread int l = 4;
int get_e(void) { return e; }
int get_l(void) { return l; }
