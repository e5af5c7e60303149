//# about: a DLL with functions, data, ordinals and a forwarder, its import library, and a program that uses them, loaded elsewhere
//# obj: kernel32.lib = kernel32.def
//# obj: program.obj = program.c
//# link: dll.obj kernel32.lib /dll /noentry /out:lib.dll /export:by_ordinal,@7,NONAME /export:renamed=add /export:fwd=KERNEL32.ExitProcess
//# readobj: --coff-exports => (?s)Ordinal: 7\s+Name: \s.*Name: add\s.*Name: fwd\s+ForwardedTo: KERNEL32.ExitProcess.*Name: renamed\s.*Name: value\s
//# exists: lib.lib
//# link: program.obj lib.lib kernel32.lib /entry:start /subsystem:console /out:program.exe
//# readobj: --coff-imports => (?s)Name: lib.dll.*Symbol: add .*Symbol:  \(7\).*Symbol: renamed .*Symbol: value
//# run: program.exe
//# exit: 66
//# sh: llvm-nm-22 lib.lib > names; grep -q '__imp_value' names; ! grep -q ' T value' names; grep -q '__IMPORT_DESCRIPTOR_lib' names; \
//#     lld-link-22 program.obj lib.lib kernel32.lib /entry:start /subsystem:console /out:other.exe
__declspec(dllexport) int value = 40;
__declspec(dllexport) int add(int a, int b) { return a + b + value; }
int by_ordinal(void) { return 3; }
//--- program.c
__declspec(dllimport) extern int value;
int add(int, int);
__declspec(dllimport) int renamed(int, int);
int by_ordinal(void);
__declspec(dllimport) void ExitProcess(unsigned);
void start(void) {
  value = 20;
  ExitProcess(add(1, 2) + renamed(10, 10) + by_ordinal());
}
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
