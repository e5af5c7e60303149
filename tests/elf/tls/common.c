//# about: a tentative thread-local definition
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# not: lld -- it has no thread-local commons
//# link: %pie common.o tc.o
//# run: ./out
//# stdout: 0 9
#include <stdio.h>
extern __thread int tc;
int main(void) { printf("%d ", tc); tc = 9; printf("%d\n", tc); return 0; }
//--- tc.s
.tls_common tc, 4, 4
.section .note.GNU-stack,"",@progbits
