//# about: --no-gnu-unique: STB_GNU_UNIQUE becomes STB_GLOBAL, in both symbol tables
//# not: lld -- always keeps the binding
//# xfail: bfd mold -- they have the option for -r only, or not at all
//# cxxflags: -fPIC
//# lang: c++
//# link: %shared no-gnu-unique.o
//# dynsym: _ZZ5countvE1n bind=UNIQUE
//# link: %shared no-gnu-unique.o --no-gnu-unique -o plain
//# dynsym: _ZZ5countvE1n bind=GLOBAL
//# symbol: _ZZ5countvE1n bind=GLOBAL
//# link: %shared no-gnu-unique.o --no-gnu-unique --gnu-unique -o last
//# dynsym: _ZZ5countvE1n bind=UNIQUE
inline int count() { static int n; return ++n; }
int use() { return count(); }
