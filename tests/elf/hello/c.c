//# about: hello world in every kind of output, by every compiler and library
//# machines: aarch64 riscv64 i386 s390x armhf armel ppc64le ppc64 mipsel mips mips64el
//# matrix: cc=gcc,clang libc=glibc,musl kind=static,static-pie,pie,nopie
//# [kind=static libc=musl] not: lld mold -- they give a static program an interpreter if -dynamic-linker is there
//# [kind=nopie] cflags: -fno-pie
//# link: %{kind} c.o
//# run: ./out a b
//# stdout: hello, 3 arguments
#include <stdio.h>
static int counter = 40;
int *p = &counter;
int main(int argc, char **argv) {
  (void)argv;
  *p += 2;
  printf("hello, %d arguments\n", argc);
  return counter - 42;
}
