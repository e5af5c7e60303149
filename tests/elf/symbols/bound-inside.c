//# about: what -Bsymbolic-functions and --dynamic-list bind inside of a library: a list all that it does not name, the option no IFUNCs, and neither what is thread-local
//# cflags: -fPIC
//# matrix: how=-Bsymbolic-functions,-Bsymbolic,--dynamic-list=list,both
//# [how=both] link: %shared bound-inside.o -Bsymbolic-functions --dynamic-list=list -o lib.so
//# [!how=both] link: %shared bound-inside.o {how} -o lib.so
//# link: %pie main.o lib.so -E
//# run: ./out
//# [how=-Bsymbolic-functions] stdout: function 2 chosen 1 variable 1 listed 1 thread 1
// With DF_SYMBOLIC the loader binds the rest.
//# [how=-Bsymbolic !lld] stdout: function 2 chosen 2 variable 2 listed 2 thread 2
//# [how=--dynamic-list=list|both weld] stdout: function 2 chosen 2 variable 2 listed 1 thread 1
#include <stdio.h>
int variable = 2, listed = 2;
__thread int thread = 2;
static int two(void) { return 2; }
static void *choose(void) { return (void *)two; }
int function(void) { return 2; }
int chosen(void) __attribute__((ifunc("choose")));
void show(void) { printf("function %d chosen %d variable %d listed %d thread %d\n", function(), chosen(), variable, listed, thread); }
//--- main.c
int variable = 1, listed = 1;
__thread int thread = 1;
int function(void) { return 1; }
int chosen(void) { return 1; }
void show(void);
int main(void) { show(); return 0; }
//--- list
{ listed; };
