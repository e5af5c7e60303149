/* What C says of symbols in COFF, without headers. */
#pragma comment(lib, "user32")
#pragma comment(linker, "/include:kept")
__declspec(dllexport) int exported(void) { return 1; }
__declspec(dllexport) int exported_data = 3;
__declspec(dllimport) int imported(void);
__declspec(dllimport) extern int imported_data;
__declspec(selectany) int select_any = 4;
__declspec(thread) int tls = 5;
extern int undefined(int);
extern int weak_external(void) __attribute__((weak));
__attribute__((weak)) int weak_defined(void) { return 2; }
int weak_alias(void) __attribute__((weak, alias("exported")));
int alias(void) __attribute__((alias("exported")));
int __attribute__((section(".mine"))) in_section = 6;
static int internal;
int common;
int kept(void) { return imported() + imported_data + undefined(internal++) + (weak_external ? weak_external() : 0); }
#ifdef __i386__
int __stdcall standard(int a, int b) { return a + b; }
int __fastcall fast(int a) { return a + tls; }
#endif
