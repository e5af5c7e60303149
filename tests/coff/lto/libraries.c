//# about: members of libraries that are bitcode, machine code in between, whole libraries, /start-lib, directives in bitcode
//# matrix: lto=full,thin
//# obj: kernel32.lib = kernel32.def
//# obj: libraries.obj = libraries.c -O2 -flto={lto}
//# obj: one.obj = one.c -O2 -flto={lto}
//# obj: two.obj = two.c -O2 -flto={lto}
//# obj: never.obj = never.c -O2 -flto={lto}
//# obj: native.obj = native.c -O2
//# sh: $LD -flavor link /lib /out:x.lib never.obj one.obj two.obj native.obj
//# sh: llvm-lib-22 /out:llvm.lib never.obj one.obj two.obj native.obj
//# sh: llvm-ar-22 rcsT thin.lib never.obj one.obj two.obj native.obj
// The library and kernel32 are asked for by a directive.
//# link: libraries.obj /entry:start /subsystem:console /out:default.exe
//# run: default.exe
//# exit: 12
//# link: libraries.obj llvm.lib /nodefaultlib:x /entry:start /subsystem:console /out:by-llvm.exe
//# run: by-llvm.exe
//# exit: 12
//# link: libraries.obj thin.lib /nodefaultlib:x /entry:start /subsystem:console /out:of-thin.exe
//# run: of-thin.exe
//# exit: 12
//# link: libraries.obj /wholearchive:x.lib /entry:start /subsystem:console /out:whole.exe /lldmap:whole.map /opt:noref
//# run: whole.exe
//# exit: 12
//# link: libraries.obj /start-lib never.obj one.obj two.obj native.obj /end-lib /nodefaultlib:x /entry:start /subsystem:console /out:lazy.exe /lldmap:lazy.map
//# run: lazy.exe
//# exit: 12
//# file-not: lazy.map => never
// What a directive or the command line asks for stays, and is exported.
//# link: libraries.obj /entry:start /subsystem:console /export:asked /include:included /out:export.exe /lldmap:export.map
//# run: export.exe
//# exit: 12
//# readobj: --coff-exports => (?s)Name: asked\s.*Name: by_directive\s
//# file: export.map => \bincluded\b
#pragma comment(lib, "x.lib")
#pragma comment(lib, "kernel32.lib")
#pragma comment(linker, "/export:by_directive")
__declspec(dllimport) void ExitProcess(unsigned);
int one(int);
int asked(void) { return 1; }
int included(void) { return 2; }
int by_directive(void) { return 3; }
void start(void) { ExitProcess(one(2)); }
//--- one.c
int native(int);
int one(int x) { return native(x) * 2; }
//--- two.c
int two(int x) { return x + 1; }
//--- never.c
int never(void) { __builtin_trap(); }
//--- native.c
int two(int);
int native(int x) { return two(x) * 2; }
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
