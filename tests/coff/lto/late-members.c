//# about: machine code of libraries that only code generation asks for shares variables of COMDAT sections with bitcode
//# matrix: lto=full,thin
//# only: weld -- lld-link makes two of the variable
//# obj: kernel32.lib = kernel32.def
//# obj: late-members.obj = late-members.c -O2 -flto={lto}
//# obj: set.obj = set.c -O2 -fno-builtin
//# sh: llvm-lib-22 /out:set.lib set.obj
//# link: late-members.obj set.lib kernel32.lib /entry:start /subsystem:console
//# run:
//# exit: 7
#include "shared.h"
__declspec(dllimport) void ExitProcess(unsigned);
struct wide { char bytes[2048]; };
__declspec(noinline) static void take(struct wide *wide) { __asm__ volatile("" : : "r"(wide) : "memory"); }
void start(void) {
  calls = 1;
  struct wide wide = {0};
  take(&wide);
  ExitProcess(calls);
}
//--- shared.h
__declspec(selectany) int calls = 0;
//--- set.c
#include "shared.h"
void *memset(void *at, int value, unsigned long long size) {
  for (volatile char *byte = at; size--; byte++) *byte = value;
  calls = 7;
  return at;
}
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
