//# about: local-exec code may refer to a weak thread-local variable that nothing defines
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# not: lld -- it refuses
//# matrix: kind=static,pie,nopie
//# [kind=pie] cflags: -fPIE
//# link: %{kind} weak-undefined-local-exec.o
//# run: ./out
//# stdout: fine
#include <stdio.h>
extern char used __attribute__((weak));
extern __thread int missing __attribute__((weak, tls_model("local-exec")));
__thread int present = 1;
int main(void) {
  if (&used) missing = 1;
  puts(present ? "fine" : "wrong");
  return 0;
}
