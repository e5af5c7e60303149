//# about: a common symbol of several files of bitcode is as large as the largest, whichever comes first
//# matrix: lto=full,thin
//# obj: kernel32.lib = kernel32.def
//# obj: commons.obj = commons.c -O2 -fcommon -flto={lto}
//# obj: large.obj = large.c -O2 -fcommon -flto={lto}
//# link: commons.obj large.obj kernel32.lib /entry:start /subsystem:console
//# run:
//# exit: 15
//# link: large.obj commons.obj kernel32.lib /entry:start /subsystem:console
//# run:
//# exit: 15
__declspec(dllimport) void ExitProcess(unsigned);
int block[4];
int large(void);
void start(void) {
  block[3] = 7;
  int last = large();
  ExitProcess(block[3] + last);
}
//--- large.c
int block[100000];
__attribute__((noinline)) int large(void) {
  block[99999] = 8;
  return block[99999];
}
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
