//# about: -z pack-relative-relocs marks the file for glibc's loader
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# only: weld lld bfd -- mold wants no mark
//# link: %pie relr-glibc.o -z pack-relative-relocs
//# need-version: libc.so.6 GLIBC_ABI_DT_RELR
//# run: ./out
//# stdout: x
//# [weld|lld] link: %pie relr-glibc.o -z pack-relative-relocs --pack-dyn-relocs=relr
//# [weld|lld] need-version: libc.so.6 GLIBC_ABI_DT_RELR
//# [weld|lld] link: %pie relr-glibc.o --pack-dyn-relocs=relr
//# [weld|lld] no-need-version: libc.so.6 GLIBC_ABI_DT_RELR
#include <stdio.h>
const char *table[] = {"x", "y"};
int main(void) {
  puts(table[0]);
  return 0;
}
