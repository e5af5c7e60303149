//# about: thread-local variables with a strict alignment, and callbacks when threads come and go
//# obj: kernel32.lib = kernel32.def
//# link: thread.obj kernel32.lib /entry:start /subsystem:console
//# run:
//# exit: 12
//# readobj: --coff-tls-directory => (?s)AddressOfCallBacks: 0x14.*IMAGE_SCN_ALIGN_64BYTES
typedef unsigned long long u64;
__declspec(dllimport) void ExitProcess(unsigned);
__declspec(dllimport) void *CreateThread(void *, u64, unsigned (*)(void *), void *, unsigned, void *);
__declspec(dllimport) unsigned WaitForSingleObject(void *, unsigned);

_Alignas(64) _Thread_local int mine = 5;
static volatile int attached;

static void callback(void *module, unsigned reason, void *reserved) {
  if (reason == 2) attached = 1;
}

unsigned _tls_index;
int _fltused;
#pragma section(".tls", read, write)
#pragma section(".tls$ZZZ", read, write)
#pragma section(".CRT$XLA", read)
#pragma section(".CRT$XLB", read)
#pragma section(".CRT$XLZ", read)
__declspec(allocate(".tls")) char _tls_start = 0;
__declspec(allocate(".tls$ZZZ")) char _tls_end = 0;
typedef void (*Callback)(void *, unsigned, void *);
__declspec(allocate(".CRT$XLA")) Callback first = 0;
__declspec(allocate(".CRT$XLB")) Callback own = callback;
__declspec(allocate(".CRT$XLZ")) Callback last = 0;
struct {
  void *start, *end, *index, *callbacks;
  unsigned zero, flags;
} _tls_used = {&_tls_start, &_tls_end, &_tls_index, &first + 1, 0, 0};

static volatile int result;
static unsigned worker(void *unused) {
  mine += 1;
  result = mine + (int)((u64)&mine % 64);
  return 0;
}

void start(void) {
  mine = 100;
  WaitForSingleObject(CreateThread(0, 0, worker, 0, 0, 0), 5000);
  ExitProcess(result + attached + (mine == 100) * 5);
}
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
CreateThread
WaitForSingleObject
