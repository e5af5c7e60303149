//# about: a script of GNU ld's, with which a static program finds the relocations of its IFUNCs, names their table .rel.iplt on i386
//# only: weld -- ld.lld's programs crash with such scripts
//# sh: i686-linux-gnu-gcc -c i386-script-iplt.c -o i.o && python3 script.py && i686-linux-gnu-gcc -static -B $LD_DIR i.o -Wl,-T,gnu.ld -o out && ./out
//# stdout: 42
#include <stdio.h>
static int two(void) { return 42; }
static int (*resolve(void))(void) { return two; }
int chosen(void) __attribute__((ifunc("resolve")));
int main(void) {
  printf("%d\n", chosen());
  return 0;
}
//--- script.py
import re, subprocess

said = subprocess.run(["i686-linux-gnu-ld", "-m", "elf_i386", "--verbose"], capture_output=True, text=True, check=True).stdout
open("gnu.ld", "w").write(re.search(r"={10,}\n(.*?)\n={10,}", said, re.S).group(1))
