/* Some of everything that C says of symbols in ELF, without headers. */
#pragma comment(lib, "m")
#pragma comment(lib, "/opt/lib/libz.a")
int defined(void) { return 1; }
__attribute__((weak)) int weak_defined(void) { return 2; }
extern int undefined_function(int);
extern int undefined_weak(void) __attribute__((weak));
extern int undefined_data;
extern _Thread_local int undefined_tls;
int common;
char common_array[4096] __attribute__((aligned(64)));
__attribute__((weak)) int weak_data = 5;
int data = 3;
int zeros;
const int constant = 7;
_Thread_local int tls = 4;
_Thread_local int tls_zeros;
static int internal;
__attribute__((visibility("hidden"))) int hidden(void) {
    return undefined_function(internal++) + (undefined_weak ? undefined_weak() : 0) + undefined_data + undefined_tls;
}
__attribute__((visibility("protected"))) int protected(void) { return hidden(); }
__attribute__((visibility("hidden"))) extern int undefined_hidden;
int *refers = &undefined_hidden;
extern int alias(void) __attribute__((alias("defined")));
extern int weak_alias(void) __attribute__((weak, alias("defined")));
extern int data_alias __attribute__((alias("data")));
__attribute__((section("my_section"))) int in_section = 4;
__attribute__((section(".text.mine"))) int code_in_section(void) { return 1; }
__attribute__((used)) static int used_static(void) { return 6; }
__attribute__((used)) int used_global = 6;
__attribute__((constructor)) static void constructor(void) { zeros = constant; }
int memory(char *to, const char *from) { __builtin_memcpy(to, from, 100); return __builtin_strlen(from); }
#ifdef VERSIONS
int new_version(void) { return 1; }
int old_version(void) { return 2; }
__asm__(".symver new_version, versioned@@V2");
__asm__(".symver old_version, versioned@V1");
__asm__(".globl from_assembly\nfrom_assembly:\n.weak weak_from_assembly\n");
#endif
#ifdef IFUNC
static int (*resolver(void))(void) { return defined; }
int ifunc(void) __attribute__((ifunc("resolver")));
#endif
