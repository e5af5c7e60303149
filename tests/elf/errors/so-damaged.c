//# about: shared libraries that cannot be read: cut short, without dynamic table, of another machine
//# not: bfd mold lld -- each accepts some
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o good.so
//# sh: head -c 600 good.so > short.so && head -c 60 good.so > tiny.so
//# fail: %pie so-damaged.o ./short.so
//# error: short\.so
//# fail: %pie so-damaged.o ./tiny.so
//# error: tiny\.so
int f(void);
int main(void) { return f(); }
//--- lib.c
int f(void) { return 0; }
