//# about: AddressSanitizer with gcc and clang
//# matrix: cc=gcc,clang
//# sh: $CC $([ {cc} = gcc ] && echo -B $LD_DIR || echo --ld-path=$LD) -fsanitize=address -g sanitizers.c -o out
//# run: ./out
//# exit: 1
//# stderr-re: heap-buffer-overflow
#include <stdlib.h>
int main(void) { volatile char *p = malloc(3); return p[3]; }
