//# about: GCC's intermediate code is compiled if a plugin says so or there is no machine code beside it
//# not: bfd mold lld -- a plugin, or not noticed
//# obj: slim.o = slim.c @gcc -O1 -flto -fno-fat-lto-objects -ffreestanding
//# obj: fat.o = slim.c @gcc -O1 -flto -ffat-lto-objects -ffreestanding
//# obj: main.o = gcc-without-plugin.c @gcc -O1 -ffreestanding
//# link: main.o slim.o
//# symbol: f type=FUNC
//# link: -shared slim.o
//# dynsym: f type=FUNC
// Nobody knows whether they are asked for before they have been read; what has machine code is linked as it is.
//# link: --start-lib slim.o --end-lib main.o fat.o
//# symbol: f type=FUNC
//# obj: twice.o = twice.c @gcc -O1 -flto -fno-fat-lto-objects -ffreestanding
//# obj: calls.o = calls.c @gcc -O1 -flto -ffat-lto-objects -ffreestanding
//# link: main.o calls.o --start-lib twice.o --end-lib
//# disasm: f => call
//# link: -r slim.o -o r.o
//# symbol: f type=FUNC
//# link: main.o fat.o
//# symbol: f type=FUNC
//# link: -r fat.o -o r.o
//# no-section: .gnu.lto_.opts
int f(void);
void _start(void) { f(); }
//--- calls.c
int twice(int);
int f(void) { return twice(1) + 1; }
//--- twice.c
int twice(int x) { return x * 2; }
//--- slim.c
int f(void) { return 1; }
__attribute__((constructor)) static void start(void) { f(); }
