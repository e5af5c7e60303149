//# about: --copy-dt-needed-entries: what the libraries behind it need is searched, too, and needed if it is used
//# only: weld bfd -- others have no such option
//# obj: inner.o = inner.c -fPIC
//# obj: outer.o = outer.c -fPIC
//# obj: deep.o = deep.c -fPIC
//# sh: mkdir -p far
//# link: %shared deep.o -soname=libdeep.so -o far/libdeep.so
//# link: %shared inner.o -soname=libinner.so far/libdeep.so -o far/libinner.so
//# link: %shared outer.o -soname=libouter.so far/libinner.so --allow-shlib-undefined -o libouter.so
//# fail: %pie copy-dt-needed.o libouter.so -rpath-link far
//# error: inner
//# link: %pie copy-dt-needed.o --copy-dt-needed-entries libouter.so -rpath-link {dir}/far
//# dynamic: NEEDED libouter.so
//# dynamic: NEEDED libinner.so
//# no-dynamic: NEEDED libdeep.so
//# sh: LD_LIBRARY_PATH=.:far ./out
//# link: %pie copy-dt-needed.o --copy-dt-needed-entries libouter.so -rpath {dir}/far
//# dynamic: NEEDED libinner.so
//# sh: LD_LIBRARY_PATH=.:far ./out
//# link: %shared outer.o -soname=libouter.so far/libinner.so --allow-shlib-undefined -rpath '$ORIGIN/far' -o libouter.so
//# link: %pie copy-dt-needed.o --add-needed libouter.so
//# warning: libdeep\.so.*not found
//# dynamic: NEEDED libinner.so
//# fail: %pie copy-dt-needed.o --add-needed --no-copy-dt-needed-entries libouter.so -rpath-link far
//# error: inner
//# fail: %pie copy-dt-needed.o --push-state --add-needed --pop-state libouter.so -rpath-link far
//# error: inner
//# link: %shared outer.o -soname=libouter.so far/libinner.so --allow-shlib-undefined -o libouter.so
//# [weld] fail: %pie copy-dt-needed.o --copy-dt-needed-entries libouter.so --allow-shlib-undefined
//# [weld] error: libouter\.so needs libinner\.so, which is not found
//# [weld] error: undefined symbol: inner
int outer(void), inner(void);
int main(void) { return outer() + inner(); }
//--- outer.c
int inner(void);
int outer(void) { return inner(); }
//--- inner.c
int deep(void);
int inner(void) { return deep(); }
//--- deep.c
int deep(void) { return 0; }
