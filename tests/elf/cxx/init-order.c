//# about: constructors run by priority, .ctors before .init_array in reverse, destructors in reverse
//# matrix: kind=static,pie,nopie
//# link: %{kind} init-order.o other.o asm.o
//# run: ./out
//# stdout: pre
//# stdout: 101 102 200 first second main
//# stdout: last 200d 102d 101d
#include <stdio.h>
void say(const char *s) { printf("%s ", s); }
__attribute__((constructor(200))) static void c200(void) { say("200"); }
__attribute__((constructor(101))) static void c101(void) { say("101"); }
__attribute__((constructor)) static void first(void) { say("first"); }
__attribute__((destructor(101))) static void d101(void) { say("101d\n"); }
__attribute__((destructor(200))) static void d200(void) { say("200d"); }
int main(void) { puts("main"); return 0; }
//--- other.c
void say(const char *s);
__attribute__((constructor(102))) static void c102(void) { say("102"); }
__attribute__((constructor)) static void second(void) { say("second"); }
__attribute__((destructor(102))) static void d102(void) { say("102d"); }
__attribute__((destructor)) static void last(void) { say("last"); }
//--- asm.s
.section .preinit_array,"aw",@preinit_array
.p2align 3
.quad pre
.text
pre:
  mov $1, %eax
  mov $1, %edi
  lea text(%rip), %rsi
  mov $4, %edx
  syscall
  ret
.section .rodata
text: .ascii "pre\n"
.section .note.GNU-stack,"",@progbits
