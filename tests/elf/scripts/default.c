//# about: the scripts that GNU ld prints for itself, for programs and shared objects that run: C++, threads, libraries, constructors
//# only: weld -- with the others the scripts are known to work
//# matrix: kind=pie,nopie,static,static-pie
//# lang: c++
//# sh: case {kind} in pie|static-pie) o=-pie ;; *) o= ;; esac; ld.bfd $o --verbose | sed '1,/^=====/d; /^=====/,$d' > x.ld; test -s x.ld
//# link: %{kind} -T x.ld default.o
//# run: ./out
//# stdout: 7 3 5
#include <stdio.h>
__thread int t = 3;
__thread int z;
static int order;
int common;
__attribute__((constructor)) static void start(void) { order = 5; }
int main(void) {
    z = 4;
    printf("%d %d %d\n", t + z, t, order + common);
    return 0;
}
