//# about: programs and DLLs of bitcode: machine code that calls it and is called, imports and exports, what the objects are called
//# matrix: lto=full,thin
//# obj: kernel32.lib = kernel32.def
//# obj: kinds.obj = kinds.c -O2 -flto={lto}
//# obj: a.obj = a.c -O2 -flto={lto}
//# obj: dll.obj = dll.c -O2 -flto={lto}
//# obj: native.obj = native.c -O2
//# link: dll.obj /dll /noentry /out:lib.dll /lldmap:lib.map
//# readobj: --coff-exports => (?s)Name: answer\s.*Name: shared_value\s
//# link: kinds.obj a.obj native.obj lib.lib kernel32.lib /entry:start /subsystem:console /out:prog.exe /lldmap:map
//# run: prog.exe
//# exit: 42
//# [lto=full] file: map => prog\.exe\.lto\.obj
//# [lto=thin] file: map => prog\.exe\.lto\.kinds\.obj
// What only bitcode knows of has gone into its callers; what machine code calls is there.
//# file-not: map => \bfrom_a\b
//# file: map => \bcalled_by_native\b
//# file-not: map => \bunused\b
// The machine is known from bitcode alone, and so is what kind of program it is.
//# obj: main.obj = main.c -O2 -flto={lto}
//# link: main.obj kernel32.lib /out:main.exe
//# run: main.exe
//# exit: 7
//# readobj: --file-headers => (?s)IMAGE_FILE_MACHINE_AMD64.*IMAGE_SUBSYSTEM_WINDOWS_CUI
// Debug information goes into the PDB.
//# obj: debug.obj = main.c -O2 -flto={lto} -gcodeview
//# link: debug.obj kernel32.lib /out:debug.exe /debug
//# run: debug.exe
//# exit: 7
//# sh: llvm-pdbutil-22 dump -symbols -modules debug.pdb > all; grep 'S_GPROC32.*`mainCRTStartup`' all; grep 'Mod 0000 | `.*debug.exe.lto.*obj`' all
__declspec(dllimport) void ExitProcess(unsigned);
__declspec(dllimport) int answer(int);
__declspec(dllimport) extern int shared_value;
int from_a(int);
int from_native(int);
int called_by_native(int x) { return x + 1; }
void start(void) { ExitProcess(from_a(1) + from_native(2) + answer(3) + shared_value); }
//--- a.c
int from_a(int x) { return x * 2; }
int unused(int x) { return x * 3; }
//--- native.c
int called_by_native(int);
int from_native(int x) { return called_by_native(x) * 3; }
//--- dll.c
static int helper(int x) { return x * 10; }
__declspec(dllexport) int answer(int x) { return helper(x); }
__declspec(dllexport) int shared_value = 1;
//--- main.c
__declspec(dllimport) void ExitProcess(unsigned);
int main(void) { return 7; }
void mainCRTStartup(void) { ExitProcess(main()); }
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
