//# about: objects that hold GCC's intermediate code only are refused by name; those with machine code link
//# not: bfd mold lld -- a plugin, or not noticed
//# obj: slim.o = slim.c @gcc -O1 -flto -fno-fat-lto-objects -ffreestanding
//# obj: fat.o = slim.c @gcc -O1 -flto -ffat-lto-objects -ffreestanding
//# obj: gcc-lto.o = gcc-lto.c @gcc -O1 -ffreestanding
//# fail: gcc-lto.o slim.o
//# error: slim\.o: holds GCC link-time code only; link-time optimisation is not supported yet
//# fail: -shared slim.o
//# error: slim\.o: holds GCC link-time code only
//# fail: -r slim.o
//# error: slim\.o: holds GCC link-time code only
//# link: gcc-lto.o fat.o
//# symbol: f type=FUNC
//# link: -r fat.o -o r.o
//# no-section: .gnu.lto_.opts
int f(void);
void _start(void) { f(); }
//--- slim.c
int f(void) { return 1; }
__attribute__((constructor)) static void start(void) { f(); }
