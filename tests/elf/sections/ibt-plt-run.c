//# about: a program with forced IBT PLT runs
//# matrix: bind=lazy,now
//# not: mold bfd -- -z force-ibt is lld's name
//# cflags: -fcf-protection=full
//# link: %pie ibt-plt-run.o -z force-ibt -z {bind}
//# warning: crt
//# section: .plt.sec
//# run: ./out
//# stdout: ok
#include <stdio.h>
#include <stdlib.h>
int main(void) { puts("ok"); exit(0); }
