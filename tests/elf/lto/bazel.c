//# about: the steps by which Bazel and Buck distribute: compile, and for the index a file without code; index; compile each module by its index; link what the index lists. Every file is ld.lld's
//# only: weld -- side by side with ld.lld
//# sh: rm -rf obj weld.d lld.d && mkdir -p obj/sub weld.d lld.d && cp bazel.c obj/main.c && cp one.c never.c obj/ && cp two.c obj/sub/ && for f in main one never sub/two; do clang-22 -O2 -flto=thin -fthin-link-bitcode=obj/$f.indexing.o -c obj/$f.c -o obj/$f.o; done
//# sh: for l in weld lld; do (cd $l.d && ln -s ../obj obj); done
//# sh: cd weld.d && $LD_DIR/ld.lld -e main -pie obj/main.indexing.o --start-lib obj/one.indexing.o obj/never.indexing.o obj/sub/two.indexing.o --end-lib --plugin-opt=thinlto-index-only=list --plugin-opt=thinlto-emit-imports-files '--plugin-opt=thinlto-prefix-replace=obj/;lto/' '--plugin-opt=thinlto-object-suffix-replace=.indexing.o;.o' -o ../indexed
//# sh: cd lld.d && ld.lld-22 -e main -pie obj/main.indexing.o --start-lib obj/one.indexing.o obj/never.indexing.o obj/sub/two.indexing.o --end-lib --plugin-opt=thinlto-index-only=list --plugin-opt=thinlto-emit-imports-files '--plugin-opt=thinlto-prefix-replace=obj/;lto/' '--plugin-opt=thinlto-object-suffix-replace=.indexing.o;.o' -o ../indexed
//# sh: diff -r weld.d lld.d && test ! -e indexed && ls weld.d/lto weld.d/lto/sub | tr '\n' ' ' | grep 'main.o.imports main.o.thinlto.bc never.o.imports never.o.thinlto.bc one.o.imports one.o.thinlto.bc sub .* two.o.imports two.o.thinlto.bc'
//# sh: test ! -s weld.d/lto/never.o.imports && test -s weld.d/lto/never.o.thinlto.bc && diff weld.d/list - < <(printf '%s\n' lto/main.o lto/one.o lto/sub/two.o)
// With a prefix of its own for objects.
//# sh: for l in weld lld; do p=$LD_DIR/ld.lld; test $l = weld || p=ld.lld-22; (cd $l.d && rm -rf lto && $p -e main -pie obj/main.o --start-lib obj/one.o obj/never.o obj/sub/two.o --end-lib --thinlto-index-only=list2 --thinlto-emit-imports-files '--thinlto-prefix-replace=obj/;lto/;native/' -o ../indexed); done; diff -r weld.d lld.d && diff weld.d/list2 - < <(printf '%s\n' native/main.o native/one.o native/sub/two.o)
// An archive, whose members are modules by their places.
//# sh: for l in weld lld; do p=$LD_DIR/ld.lld; test $l = weld || p=ld.lld-22; (cd $l.d && cp ../obj/main.o m.o && llvm-ar-22 rcsD x.a ../obj/never.o ../obj/one.o ../obj/sub/two.o && $p -e main -pie m.o x.a --thinlto-index-only=list3 --thinlto-emit-imports-files -o ../indexed); done; diff -r weld.d lld.d
// Each module on its own, and the program.
//# sh: cd weld.d && for f in $(sed s/native/obj/ list2); do o=native/${f#obj/}; mkdir -p $(dirname $o); clang-22 -O2 -fpic -ffunction-sections -fdata-sections -c -x ir $f -fthinlto-index=lto/${f#obj/}.thinlto.bc -o $o; test -s $o; done; clang-22 -O2 -c -x ir obj/never.o -fthinlto-index=lto/never.o.thinlto.bc -o never.native.o
//# sh: cd weld.d && cp -r native ..
//# link: %pie @weld.d/list2 -o out
//# run:
//# stdout: 1 2
#include <stdio.h>
int one(void), two(void);
int main(void) { printf("%d %d\n", one(), two()); }
//--- one.c
int count(int x) { return x; }
int one(void) { return count(1); }
//--- two.c
int count(int x);
int two(void) { return count(2); }
//--- never.c
int never(void) { return 6; }
