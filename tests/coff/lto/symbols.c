//# about: symbols of bitcode that others have, too: COMDAT sections either way, weak definitions, commons, weak references, /alternatename, /wrap
//# matrix: lto=full,thin
//# obj: kernel32.lib = kernel32.def
//# obj: symbols.obj = symbols.c -O2 -flto={lto} -fcommon
//# obj: other.obj = other.cc -O2 -flto={lto}
//# obj: native.obj = native.cc -O2 -DBY=100
//# obj: strong.obj = strong.c -O1
//# obj: wrap.obj = wrap.c -O1
//# obj: common.obj = common.c -O1 -fcommon
// Bitcode is first, so its inline function is taken by machine code.
//# link: symbols.obj other.obj native.obj common.obj kernel32.lib /entry:start /subsystem:console /out:first.exe
//# run: first.exe
//# stdout: inline 1 1 weak 1 common 5 maybe 0
// Machine code is first, so its one is taken by bitcode, and a strong definition beats a weak one.
//# link: native.obj strong.obj symbols.obj other.obj common.obj kernel32.lib /entry:start /subsystem:console /out:last.exe
//# run: last.exe
//# stdout: inline 100 100 weak 2 common 5 maybe 3
//# link: symbols.obj other.obj native.obj strong.obj common.obj wrap.obj kernel32.lib /entry:start /subsystem:console /wrap:weak /out:wrapped.exe
//# run: wrapped.exe
//# stdout: inline 1 1 weak 12 common 5 maybe 3
__declspec(dllimport) void *GetStdHandle(unsigned);
__declspec(dllimport) int WriteFile(void *, const void *, unsigned, unsigned *, void *);
__declspec(dllimport) void ExitProcess(unsigned);
int inline_of_code(void), inline_of_native(void);
__attribute__((weak)) int weak(void) { return 1; }
__attribute__((weak)) int maybe(void);
int common[4];
void set_common(void);

static char line[100];
static int at;
static void say(const char *text) {
  while (*text) line[at++] = *text++;
}
static void number(int n) {
  if (n > 9) number(n / 10);
  line[at++] = '0' + n % 10;
}
void start(void) {
  unsigned written;
  say("inline "), number(inline_of_code()), say(" "), number(inline_of_native());
  set_common();
  say(" weak "), number(weak()), say(" common "), number(common[2]), say(" maybe "), number(maybe ? maybe() : 0);
  say("\n");
  WriteFile(GetStdHandle(-11), line, at, &written, 0);
  ExitProcess(0);
}
//--- other.cc
inline __attribute__((noinline)) int by() { return 1; }
extern "C" int inline_of_code() { return by(); }
//--- native.cc
inline __attribute__((noinline)) int by() { return BY; }
extern "C" int inline_of_native() { return by(); }
//--- strong.c
int weak(void) { return 2; }
int maybe(void) { return 3; }
//--- wrap.c
int __real_weak(void);
int __wrap_weak(void) { return 10 + __real_weak(); }
//--- common.c
int common[8];
void set_common(void) { common[2] = 5; }
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
GetStdHandle
WriteFile
