//# about: through musl-gcc
//# matrix: how=static,dynamic
//# [how=static] not: lld mold -- they give a static program an interpreter if -dynamic-linker is there
//# [how=static] sh: musl-gcc -B $LD_DIR -static -O1 musl.c -o out
//# [how=dynamic] sh: musl-gcc -B $LD_DIR -O1 musl.c -o out
//# run: ./out
//# stdout: musl
#include <stdio.h>
int main(void) { puts("musl"); return 0; }
