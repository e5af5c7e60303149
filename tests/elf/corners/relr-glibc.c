//# about: -z pack-relative-relocs marks the file for glibc's loader
//# only: weld lld bfd -- mold wants no mark
//# link: %pie relr-glibc.o -z pack-relative-relocs
//# need-version: libc.so.6 GLIBC_ABI_DT_RELR
//# run: ./out
//# stdout: x
#include <stdio.h>
const char *table[] = {"x", "y"};
int main(void) {
  puts(table[0]);
  return 0;
}
