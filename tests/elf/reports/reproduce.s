//# about: --reproduce is complete when the link fails, and replays thin archives, scripts with absolute paths, odd names
//# only: weld -- GNU ld has no such option, mold another layout, lld does not quote quotes
//# sh: mkdir -p sub && cp one.o sub/ && ar rcsT libthin.a sub/one.o && ar rcs libabs.a two.o && echo "INPUT($PWD/libabs.a)" > x.ld && cp three.o 'th"ree $x.o'
//# fail: reproduce.o libthin.a x.ld 'th"ree $x.o' --reproduce=bad.tar -o out
//# error: undefined symbol: missing
//# leaves: bad.tar
//# sh: mkdir bad && tar -xf bad.tar -C bad && cd bad/bad && ls && cat response.txt version.txt && ! $LD @response.txt 2> ../err && grep 'undefined symbol: missing' ../err
//# link: reproduce.o libthin.a x.ld 'th"ree $x.o' --defsym=missing=0 --reproduce=good.tar -Map=some.map -o out
//# sh: mkdir good && mv reproduce.o libabs.a libthin.a sub x.ld good/ && tar -xf good.tar -C good && cd good/good && rm -rf ../libabs.a && $LD @response.txt && cmp out ../../out && test -f some.map
.globl _start
_start: call one
  call two
  call three
  call missing
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: ret
.section .note.GNU-stack,"",@progbits
