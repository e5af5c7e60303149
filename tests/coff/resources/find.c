//# about: resources of two files, by number and by name, in several languages; the same one twice is an error
//# obj: kernel32.lib = kernel32.def
//# obj: a.res = a.rc
//# obj: b.res = b.rc
//# link: find.obj a.res b.res kernel32.lib /entry:start /subsystem:console
//# run:
//# exit: 99
//# readobj: --coff-resources => (?s)Number of String Entries: 1.*TEXT
//# fail: find.obj a.res a2.res kernel32.lib /entry:start /subsystem:console
//# error: duplicate resource: type RCDATA \(ID 10\)/name ID 7/language 1033, in a.res and in a2.res
//# obj: a2.res = a2.rc
__declspec(dllimport) void ExitProcess(unsigned);
__declspec(dllimport) void *FindResourceA(void *, const char *, const char *);
__declspec(dllimport) void *LoadResource(void *, void *);
__declspec(dllimport) char *LockResource(void *);
__declspec(dllimport) unsigned SizeofResource(void *, void *);
void start(void) {
  void *number = FindResourceA(0, (char *)7, (char *)10);
  void *name = FindResourceA(0, "TEXT", (char *)10);
  if (!number || !name) ExitProcess(1);
  if (SizeofResource(0, number) != 5) ExitProcess(2);
  ExitProcess(LockResource(LoadResource(0, number))[4] == (char)83 && LockResource(LoadResource(0, name))[0] == 'b' ? 99 : 3);
}
//--- a.rc
7 RCDATA { "nineS" }
//--- a2.rc
7 RCDATA { "again" }
//--- b.rc
TEXT RCDATA { "by name" }
LANGUAGE 7, 1
7 RCDATA { "german one" }
//--- kernel32.def
LIBRARY KERNEL32.dll
EXPORTS
ExitProcess
FindResourceA
LoadResource
LockResource
SizeofResource
