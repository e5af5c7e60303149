//# about: visibility that one file states counts for another's definition, and inline functions are not exported for their own sake
//# matrix: lto=full,thin
//# lang: c++
//# not: bfd mold -- clang's bitcode takes a plugin of LLVM's
//# obj: visibility.o = visibility.cc @clang -O2 -fPIC -flto={lto}
//# obj: defines.o = defines.cc @clang -O2 -fPIC -flto={lto}
//# link: %shared visibility.o defines.o
//# dynsym: _Z3apiv
//# dynsym: _Z7visiblev
//# no-dynsym: _Z7definedv
//# no-dynsym: _Z7inlinedi
// Said here only.
__attribute__((visibility("hidden"))) extern int defined();
int visible();
inline int inlined(int x) { return x + 1; }
int api() { return inlined(defined()) + visible(); }
//--- defines.cc
__attribute__((noinline)) int defined() { return 3; }
int visible() { return defined(); }
