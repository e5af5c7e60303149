/* What GCC says of symbols, without headers. */
int defined(void) { return 1; }
__attribute__((weak)) int weak_defined(void) { return 2; }
extern int undefined_function(int);
extern int undefined_weak(void) __attribute__((weak));
extern int undefined_data;
int common;
char common_array[4096] __attribute__((aligned(64)));
__attribute__((weak)) int weak_data = 5;
int data = 3;
int zeros = 0;
const int constant = 7;
_Thread_local int tls = 4;
_Thread_local int tls_zeros;
static int internal;
int call(void) {
    return undefined_function(internal++) + (undefined_weak ? undefined_weak() : 0) + undefined_data;
}
__attribute__((section("my_section"))) int in_section = 4;
__attribute__((used)) static int used_static(void) { return 6; }
#ifdef __ELF__
__attribute__((visibility("hidden"))) int hidden(void) { return call(); }
__attribute__((visibility("protected"))) int protected(void) { return hidden(); }
__attribute__((visibility("internal"))) int internal_function(void) { return hidden(); }
__attribute__((visibility("hidden"))) extern int undefined_hidden;
int *refers = &undefined_hidden;
extern int alias(void) __attribute__((alias("defined")));
extern int weak_alias(void) __attribute__((weak, alias("defined")));
__attribute__((symver("versioned@@V2"))) int new_version(void) { return 5; }
static int (*resolver(void))(void) { return defined; }
int ifunc(void) __attribute__((ifunc("resolver")));
#endif
