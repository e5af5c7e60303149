//# about: -r with -S, -s, -x, -X: debug sections and local symbols that nothing needs may go, global symbols stay
//# not: lld -- it ignores -s and -S with -r
//# not: mold -- 1.10 makes files that do not verify
//# cflags: -g -fno-pie
//# link: -r strip.o -S -o debug.o
//# no-section: .debug_info .debug_line .rela.debug_info
//# symbol: unused
//# symbol: main
//# [weld] link: -r strip.o -s -o all.o
//# [weld] no-section: .debug_info
//# [weld] no-symbol: unused strip.c
//# [weld] symbol: used
//# [weld] symbol: main
//# [weld] link: %nopie all.o
//# [weld] run: ./out
//# [weld] exit: 3
//# link: -r strip.o -x -o locals.o
//# no-symbol: unused
//# symbol: main
//# section: .debug_info
//# link: %nopie locals.o debug.o -z muldefs
//# run: ./out
//# exit: 3
__attribute__((used)) static int unused(void) { return 1; }
static int table[4] = {0, 1, 2, 3};
__asm__(".text\nused: .byte 3, 0, 0, 0\n");
int main(void) {
  int *p;
  __asm__("mov used@GOTPCREL(%%rip), %0" : "=r"(p));
  return table[0] + *p;
}
