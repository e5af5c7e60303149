//# about: a running program's file is replaced, not written into (ETXTBSY)
//# link: %pie busy.o -o prog
//# sh: ./prog & pid=$!; sleep 0.1; $LD $(cat args) -o prog && kill $pid && ./prog x
//# exit: 0
//# sh: true
#include <unistd.h>
int main(int argc, char **argv) { (void)argv; if (argc == 1) sleep(5); return 0; }
//--- args
-dynamic-linker /lib64/ld-linux-x86-64.so.2 -pie /usr/lib/x86_64-linux-gnu/Scrt1.o /usr/lib/x86_64-linux-gnu/crti.o busy.o -L/usr/lib/x86_64-linux-gnu -lc /usr/lib/x86_64-linux-gnu/crtn.o
