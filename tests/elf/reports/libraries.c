//# about: undefined names of well-known libraries say which one is missing; one that only exists as static says so
//# only: weld -- about its own words
//# fail: libraries.o other.o -e start
//# error: undefined symbol: sinf\n(>>> .*\n)*>>> is -lm missing
//# error: undefined symbol: dlopen\n(>>> .*\n)*>>> is -ldl missing
//# error: undefined symbol: std::cout\n(>>> .*\n)*>>> is -lstdc\+\+ missing
//# error: undefined symbol: helper\n(>>> .*\n)*>>> other\.o defines it, but only for itself
//# error: undefined symbol: pthread_create\n(>>> .*\n)*>>> is -pthread missing
//# fail: libraries.o other.o -e start --no-demangle
//# error: undefined symbol: _ZSt4cout
//# error-not: std::cout
float sinf(float);
void *dlopen(const char *, int);
extern int cout __asm__("_ZSt4cout");
int pthread_create(void);
int helper(void);
int start(int n) { return (int)sinf(n) + (dlopen("", 0) != 0) + cout + helper() + pthread_create(); }
//--- other.c
static int helper(void);
int other(void) { return helper(); }
__attribute__((noinline)) static int helper(void) { __asm__(""); return 1; }
