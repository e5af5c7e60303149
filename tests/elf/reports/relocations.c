//# about: relocations that cannot be used in the output: place, function, source line, what to do
//# cflags: -g -fno-pic -mcmodel=small
//# fail: -shared relocations.o
//# error: relocations\.o
//# error: R_X86_64_32
//# [weld|lld] error: table|array
//# error: -fPIC
//# [weld] error: at .*relocations\.c:10
int array[10];
int *pick(void) { return array; }
