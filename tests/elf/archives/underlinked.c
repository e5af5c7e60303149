//# about: a library may use what a library that another one needs defines; -rpath-link says where that is
//# not: lld -- it checks each library by itself
//# obj: a.o = a.c -fPIC
//# obj: b.o = b.c -fPIC
//# obj: c.o = c.c -fPIC
//# sh: mkdir -p deep origin
//# link: %shared b.o -soname libb.so -o deep/libb.so
//# link: %shared a.o -Ldeep -lb -soname liba.so -o liba.so
//# link: %shared c.o -soname libc1.so -o libc1.so
//# link: %pie underlinked.o ./liba.so ./libc1.so -rpath-link none:deep -rpath deep -rpath . --disable-new-dtags
//# no-dynamic: NEEDED libb.so
//# run: ./out
//# link: %pie underlinked.o ./liba.so ./libc1.so -rpath deep -o by-rpath
//# [!mold] fail: %pie underlinked.o ./liba.so ./libc1.so
//# [!mold] error: undefined.*: b
//# [!mold] error: libc1.so|liba.so
//# link: %shared a.o -Ldeep -lb -soname liba.so -rpath $ORIGIN/../deep -o origin/liba.so
//# link: %pie underlinked.o origin/liba.so ./libc1.so -o by-origin
//# [weld] link: %pie underlinked.o ./liba.so ./libc1.so -Ldeep -o by-search
int a(void), c(void);
int main(void) { return a() + c(); }
//--- a.c
int b(void);
int a(void) { return b(); }
//--- b.c
int b(void) { return 0; }
//--- c.c
int b(void);
int c(void) { return b(); }
