//# about: a distributor that is not there, fails, leaves nothing or half of it, or hangs: an error that names it and the module, and nothing stays; its list of jobs is as ld.lld's
//# only: weld -- messages are weld's
//# obj: distributors.o = distributors.c @clang -O2 -flto=thin
//# obj: part.o = part.c @clang -O2 -flto=thin
//# obj: arm.o = part.c @clang -O2 --target=aarch64-linux-gnu -ffreestanding
//# sh: printf '#!/bin/sh\necho "a word"; exit 3\n' > fails; printf '#!/bin/sh\n' > idle; printf '#!/bin/sh\nkill -9 $$\n' > dies
//# sh: printf '#!/bin/bash\nfor o in $(grep -o "[^\\"]*native.o\\"" "${@: -1}" | tr -d \\" | sort -u); do eval "$DO"; done\n' > does; chmod +x fails idle dies does
//# fail: distributors.o part.o -e main --thinlto-distributor=./absent --thinlto-remote-compiler=clang-22
//# error: link-time optimisation by ./absent cannot be started: .*[Nn]o such file
//# fail: distributors.o part.o -e main --thinlto-distributor=./fails --thinlto-remote-compiler=clang-22
//# error: link-time optimisation by ./fails failed
//# error: it ended with exit code 3
//# error: it printed: a word
//# fail: distributors.o part.o -e main --thinlto-distributor=./dies --thinlto-remote-compiler=clang-22
//# error: it ended with signal 9
//# fail: distributors.o part.o -e main --thinlto-distributor=./idle --thinlto-remote-compiler=clang-22
//# error: \./idle did not compile distributors\.o: of its object, there is none
//# error: it has to leave the object as .*distributors\.native\.o
//# error: --save-temps keeps the JSON file
//# fail: distributors.o part.o -e main --thinlto-distributor=./idle
//# error: --thinlto-distributor needs --thinlto-remote-compiler
//# fail: distributors.o part.o -e main --thinlto-distributor=./idle --thinlto-remote-compiler=clang-22 --lto-emit-asm
//# error: cannot do --lto-emit-asm with --thinlto-distributor
//# sh-fail: DO=': > $o' $LD distributors.o part.o -e main --thinlto-distributor=./does --thinlto-remote-compiler=clang-22
//# stderr-re: does did not compile distributors\.o: of its object, it is empty
//# sh-fail: DO='echo nonsense > $o' $LD distributors.o part.o -e main --thinlto-distributor=./does --thinlto-remote-compiler=clang-22
//# stderr-re: does did not compile distributors\.o: of its object, it is no ELF file
//# sh-fail: DO='cp arm.o $o' $LD distributors.o part.o -e main --thinlto-distributor=./does --thinlto-remote-compiler=clang-22
//# stderr-re: it is for machine 183
//# sh-fail: DO='clang-22 -c -x c /dev/null -o x.o; head -c 600 x.o > $o' $LD distributors.o part.o -e main --thinlto-distributor=./does --thinlto-remote-compiler=clang-22
//# stderr-re: it is cut short
// Ctrl-C, and weld killed while a distributor hangs that has started something.
//# sh: echo old > out; printf '#!/bin/sh\nsleep 300 & echo $! > child; touch begun; wait\n' > hangs; chmod +x hangs
//# sh: set -m; for signal in INT TERM KILL; do rm -f begun; $LD distributors.o part.o -e main -o out --thinlto-distributor=./hangs --thinlto-remote-compiler=clang-22 & p=$!; for i in $(seq 200); do test -e begun && break; sleep 0.1; done; test -d out.dtlto; kill -$signal $p; wait $p || true; for i in $(seq 100); do test -d out.dtlto || break; sleep 0.1; done; test ! -d out.dtlto; for i in $(seq 100); do kill -0 $(cat child) 2>/dev/null || break; sleep 0.1; done; if kill -0 $(cat child) 2>/dev/null; then exit 1; fi; grep -q old out; done
// What distributors read.
//# sh: llvm-ar-22 rcs libp.a part.o; printf '#!/bin/sh\necho "$1 $2"; exit 1\n' > tells; chmod +x tells
//# sh-fail: $LD distributors.o libp.a -e main -o a.b --save-temps -O0 --lto-O3 -pie --thinlto-distributor=./tells --thinlto-distributor-arg=first --thinlto-remote-compiler=cc --thinlto-remote-compiler-prepend-arg=p --thinlto-remote-compiler-arg=l --lto-sample-profile=distributors.o
//# stderr-re: it printed: first a\.b\.dtlto/a\.dist-file\.json
//# file: a.b.dtlto/a.dist-file.json => ^\{"common":\{"linker_output":"a\.b","args":\["cc","p","-c","--target=x86_64-pc-linux-gnu","-O3","-faddrsig","-ffunction-sections","-fdata-sections","-fpic","-fprofile-sample-use=distributors\.o","-Wno-unused-command-line-argument","l"\],"inputs":\["distributors\.o"\]\},
//# file: a.b.dtlto/a.dist-file.json => "jobs":\[\{"args":\["distributors\.o","-fthinlto-index=a\.b\.dtlto/distributors\.native\.o\.thinlto\.bc","-o","a\.b\.dtlto/distributors\.native\.o"\],"inputs":\["distributors\.o","a\.b\.dtlto/distributors\.native\.o\.thinlto\.bc","a\.b\.dtlto/libp\.a\(part\.o at [0-9]+\)\.o"\],"outputs":\["a\.b\.dtlto/distributors\.native\.o"\]\},
int part(void);
int main(void) { return part(); }
//--- part.c
int part(void) { return 7; }
