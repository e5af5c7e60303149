//# about: compressed debug sections are read (zlib, zstd, old .zdebug names are gone) and written
//# matrix: cc=gcc,clang in=none,zlib,zstd out=none,zlib,zstd
//# not: mold bfd -- they were built without zstd
//# except: cc=gcc in=zstd -- gcc 12's assembler has no zstd
//# [!in=none] cflags: -gz={in}
//# cflags: -g
//# link: %pie compressed-debug.o --compress-debug-sections={out}
//# [!out=none] section: .debug_info flags=C
//# [out=none] section: .debug_info
//# [out=zlib] check: u32(0) == 0x464c457f
//# sh: llvm-dwarfdump-22 --verify out && llvm-dwarfdump-22 --debug-info out | grep a_function_name >/dev/null
//# run: ./out
struct point { int x, y; char padding_that_makes_it_large[200]; };
int a_function_name(struct point *p) { return p->x + p->y; }
static int more1(int n) { return n * 2; }
static int more2(int n) { return n * 3; }
static int more3(int n) { return n * 4; }
int main(void) { struct point p = {1, -1, {0}}; return a_function_name(&p) + more1(0) + more2(0) + more3(0); }
