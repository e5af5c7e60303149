//# about: through gcc -B, in each kind of output
//# matrix: how=pie,no-pie,static,static-pie,shared
//# [how=shared] sh: gcc -B $LD_DIR -shared -fPIC lib.c -o libx.so && gcc -B $LD_DIR gcc.c -DLIB -L. -lx -o out
//# [!how=shared] sh: gcc -B $LD_DIR -{how} -O2 gcc.c -o out
//# [!bfd] readelf: -p .comment => (?i){linker}
//# run: ./out
//# stdout: ok
#include <stdio.h>
#ifdef LIB
int f(void);
#else
static int f(void) { return 0; }
#endif
int main(void) { puts("ok"); return f(); }
//--- lib.c
int f(void) { return 0; }
