//# about: source lines of references in code and data, whatever the compiler and the form of debug information
//# matrix: cc=gcc,clang form=-gdwarf-4,-gdwarf-5,-gz=zlib,-gz=zstd,-ffunction-sections,-gsplit-dwarf
//# except: cc=gcc form=-gz=zstd -- gcc 12 cannot
//# only: weld -- about its own words
//# obj: source-lines.o = source-lines.c -g {form}
//# fail: source-lines.o -e start
//# error: undefined symbol: gone\n>>> referenced by source-lines\.o:\(.*\) \(function start\)\n>>>     at .*source-lines\.c:13(\n|$)
//# [!form=-gsplit-dwarf] error: undefined symbol: object\n>>> referenced by source-lines\.o:\(.*\) \(variable table\)\n>>>     at .*source-lines\.c:12(\n|$)
//# error: undefined symbol: late\n>>> referenced by source-lines\.o:\(.*\) \(function other\)\n>>>     at .*source-lines\.c:15(\n|$)
extern int object;
int gone(void), late(void);
int *table[2] = { 0, &object };
int start(void) { return gone() + 1; }
int other(int n) {
  int r = n * late();
  return r;
}
