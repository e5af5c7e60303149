//# about: archive member or shared library: who comes first on the command line
//# obj: lib.o = lib.c -fPIC
//# link: %shared lib.o -o libx.so
//# sh: ar rcs libx.a lib.o
//# link: %pie archive-and-dso.o ./libx.so libx.a -o dso_first
//# dynsym: f section=UND
//# link: %pie archive-and-dso.o libx.a ./libx.so -o archive_first
//# symbol: f section=.text
//# run: ./archive_first
//# exit: 4
int f(void);
int main(void) { return f(); }
//--- lib.c
int f(void) { return 4; }
