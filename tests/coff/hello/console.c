//# about: a program with functions and data of two DLLs, relocated pointers, commons and zeroes
//# cflags: -fcommon
//# obj: kernel32.lib = kernel32.def
//# obj: ucrt.lib = ucrt.def
//# link: console.obj kernel32.lib ucrt.lib /nodefaultlib
//# run:
//# exit: 42
//# stdout: hello
//# stdout: data reloc
//# stdout: from ucrt
//# readobj: --coff-imports => (?s)Name: KERNEL32.dll.*Symbol: ExitProcess.*Symbol: GetStdHandle.*Symbol: WriteFile.*Name: ucrtbase.dll.*Symbol: puts
//# readobj: --file-headers => Subsystem: IMAGE_SUBSYSTEM_WINDOWS_CUI
//# sh: lld-link-22 console.obj kernel32.lib ucrt.lib /nodefaultlib /opt:nolldtailmerge /out:lld.exe; \
//#     show() { llvm-readobj-22 --coff-imports --coff-basereloc --sections $1 | grep -v '^File:'; }; \
//#     diff <(show lld.exe) <(show out.exe)
__declspec(dllimport) void *GetStdHandle(unsigned);
__declspec(dllimport) int WriteFile(void *, const void *, unsigned, unsigned *, void *);
__declspec(dllimport) void ExitProcess(unsigned);
int puts(const char *);
int fflush(void *);

const char *messages[] = {"hello\n", "data reloc\n"};
int common[100];
static char zeroes[5000];

static void say(const char *text, unsigned length) {
  unsigned written;
  WriteFile(GetStdHandle(-11), text, length, &written, 0);
}

int main(void) { return 0; }

void mainCRTStartup(void) {
  say(messages[0], 6);
  say(messages[1], 11);
  puts("from ucrt");
  fflush(0);
  common[3] = 42 + zeroes[4999];
  ExitProcess(common[3]);
}
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
GetStdHandle
WriteFile
ExitProcess
//--- ucrt.def
LIBRARY ucrtbase.dll
EXPORTS
puts
fflush
