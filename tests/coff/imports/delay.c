//# about: DLLs that are loaded when one of their functions is called first: registers are kept, other DLLs are not touched, unloading
//# cflags: -O2
//# obj: kernel32.lib = kernel32.def
//# obj: late.obj = late.c
//# obj: never.obj = never.c
//# link: late.obj /dll /noentry /out:late.dll
//# link: never.obj /dll /noentry /out:never.dll
//# sh: rm never.dll
//# link: delay.obj late.lib never.lib kernel32.lib /entry:start /subsystem:console /delayload:LATE.dll /delayload:never.dll /delay:unload /out:delay.exe
//# readobj: --coff-imports => (?s)Import \{\s+Name: KERNEL32.dll.*DelayImport \{\s+Name: late.dll\s+Attributes: 0x1\s+ModuleHandle: 0x\w+\s+ImportAddressTable: 0x\w+\s+ImportNameTable: 0x\w+\s+BoundDelayImportTable: 0x0\s+UnloadDelayImportTable: 0x[1-9].*Symbol: mixed .*Symbol: sum .*DelayImport \{\s+Name: never.dll.*Symbol: never
//# readobj: --unwind => (?s)ALLOC_LARGE size=136.*PUSH_NONVOL reg=R9.*PUSH_NONVOL reg=R8.*PUSH_NONVOL reg=RDX.*PUSH_NONVOL reg=RCX
//# run: delay.exe
//# exit: 42
//# link: delay.obj late.lib never.lib kernel32.lib /entry:start /subsystem:console /delayload:late.dll /delayload:never.dll /delay:unload /dynamicbase /base:0x7ff000000000 /out:moved.exe
//# run: moved.exe
//# exit: 42
//# obj: nohelper.obj = nohelper.c
//# fail: nohelper.obj late.lib /entry:start /subsystem:console /delayload:late.dll
//# error: undefined symbol: __delayLoadHelper2
//# fail: nohelper.obj late.lib /entry:start /subsystem:console /delayload:late.dll /alternatename:nobody=__delayLoadHelper2
//# error: undefined symbol: __delayLoadHelper2
//# obj: data.obj = data.c
//# fail: data.obj delay.obj late.lib kernel32.lib never.lib /entry:begin /subsystem:console /delayload:late.dll
//# error: cannot delay-load late.dll due to import of data: __declspec\(dllimport\) value
struct Directory {
  unsigned attributes, name, handle, address, names, bound, unload, time;
};
extern char __ImageBase[];
__declspec(dllimport) void *LoadLibraryA(const char *);
__declspec(dllimport) void *GetProcAddress(void *, const char *);
__declspec(dllimport) void ExitProcess(unsigned);
int _fltused;
static int loads;

void *__delayLoadHelper2(const struct Directory *d, void **slot) {
  void **handle = (void **)(__ImageBase + d->handle);
  void **slots = (void **)(__ImageBase + d->address);
  unsigned long long *names = (unsigned long long *)(__ImageBase + d->names);
  if (!*handle) {
    loads++;
    *handle = LoadLibraryA(__ImageBase + d->name);
  }
  void *found = GetProcAddress(*handle, __ImageBase + names[slot - slots] + 2);
  *slot = found;
  /* What the helper does to registers that hold arguments. */
  __asm__ volatile("xorps %%xmm0, %%xmm0; xorps %%xmm1, %%xmm1; xorps %%xmm2, %%xmm2; xorps %%xmm3, %%xmm3;"
                   "xor %%ecx, %%ecx; xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%edx, %%edx" ::
                       : "xmm0", "xmm1", "xmm2", "xmm3", "rcx", "rdx", "r8", "r9");
  return found;
}

__declspec(dllimport) int sum(int, int, int, int, int, int);
double mixed(double, int, double, double);
__declspec(dllimport) int never(void);

void start(void) {
  volatile int no = 0;
  int (*by_address)(int, int, int, int, int, int) = sum;
  if (no) never();
  int good = sum(1, 2, 3, 4, 5, 6) == 654321 && mixed(0.5, 3, 1.5, 2.25) == 5.75;
  good &= by_address(0, 0, 0, 0, 0, 1) == 100000 && loads == 1;
  ExitProcess(good ? 42 : 1);
}
//--- late.c
int _fltused;
__declspec(dllexport) int value;
__declspec(dllexport) int sum(int a, int b, int c, int d, int e, int f) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}
__declspec(dllexport) double mixed(double a, int b, double c, double d) { return a + b + d * (c - 0.5); }
//--- never.c
__declspec(dllexport) int never(void) { return 1; }
//--- nohelper.c
int sum(int, int, int, int, int, int);
int start(void) { return sum(1, 2, 3, 4, 5, 6); }
//--- data.c
__declspec(dllimport) extern int value;
int begin(void) { return value; }
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
LoadLibraryA
GetProcAddress
ExitProcess
