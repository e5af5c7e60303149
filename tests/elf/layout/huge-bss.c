//# about: zeroed memory takes no room in the file
//# matrix: kind=static,pie
//# link: %{kind} huge-bss.o
//# check: filesize < 2000000
//# run: ./out
//# stdout: 1
#include <stdio.h>
static char big[300000000];
int main(void) { big[200000000] = 1; printf("%d\n", big[200000000] + big[1]); return 0; }
