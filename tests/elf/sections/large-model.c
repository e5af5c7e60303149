//# about: code of the medium and large models
//# matrix: cc=gcc,clang kind=static,pie,nopie model=medium,large
//# [cc=clang model=large] not: lld -- its .eh_frame_hdr is not sorted where code precedes it
//# except: kind=pie model=large cc=gcc -- the C library's start code is small-model
//# cflags: -mcmodel={model}
//# [kind=static|nopie] cflags: -fno-pie
//# [kind=pie] cflags: -fPIE
//# link: %{kind} large-model.o
//# run: ./out
//# stdout: 42
#include <stdio.h>
static int big[1 << 20];
int other[100000] = {41};
int main(void) { big[1 << 19] = 1; printf("%d\n", big[1 << 19] + other[0]); return 0; }
