//# about: range errors give function and source line
//# cflags: -g -fno-pie -mcmodel=small
//# fail: %nopie overflow-source.o far.o
//# error: overflow-source.c:9
//# error: reach
//# error: far
extern int far;
int reach(void) {
  return far;
}
int main(void) { return reach(); }
//--- far.s
.bss
.skip 0x110000000
.globl far
far: .zero 8
.section .note.GNU-stack,"",@progbits
