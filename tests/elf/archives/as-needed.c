//# about: --as-needed: only what a live strong reference needs becomes DT_NEEDED
//# obj: used.o = used.c -fPIC
//# obj: unused.o = unused.c -fPIC
//# obj: weak.o = weak.c -fPIC
//# obj: dead.o = dead.c -fPIC
//# link: %shared used.o -o libused.so
//# link: %shared unused.o -o libunused.so
//# link: %shared weak.o -o libweak.so
//# link: %shared dead.o -o libdead.so
//# cflags: -ffunction-sections
//# [!bfd mold|lld|weld] link: %pie as-needed.o -L. --as-needed -lused -lunused -lweak -ldead --gc-sections -o strict
//# [weld|lld] dynamic: NEEDED libused.so
//# [weld|lld] no-dynamic: NEEDED libunused.so
//# [weld|lld] no-dynamic: NEEDED libweak.so
//# [weld|lld] no-dynamic: NEEDED libdead.so
//# link: %pie as-needed.o -L. --no-as-needed -lunused --as-needed -lused -ldead -o mixed
//# dynamic: NEEDED libunused.so
//# dynamic: NEEDED libused.so
//# run: ./mixed
//# link: %pie as-needed.o -L. --push-state --as-needed -lunused --pop-state --no-as-needed -lused -lweak -ldead -o all
//# dynamic: NEEDED libweak.so
//# no-dynamic: NEEDED libunused.so
// What a library that is left out lacks is not missing.
//# obj: lacking.o = lacking.c -fPIC
//# link: %shared lacking.o -o liblacking.so
//# link: %pie lacks-nothing.o -L. --as-needed -lused -llacking -o left-out
//# no-dynamic: NEEDED liblacking.so
//# obj: lacks-nothing.o = lacks-nothing.c
//# fail: %pie lacks-nothing.o -L. --no-as-needed -lused -llacking -o left-out
//# error: nobodys
int used(void), dead(void);
int weak(void) __attribute__((weak));
int dead_code(void) { return dead(); }
int main(void) { return used() + (weak ? 0 : 0); }
//--- used.c
int used(void) { return 0; }
//--- unused.c
int unused(void) { return 0; }
//--- weak.c
int weak(void) { return 0; }
//--- dead.c
int dead(void) { return 0; }
//--- lacking.c
int nobodys(void);
int lacking(void) { return nobodys(); }
//--- lacks-nothing.c
int used(void), nobodys(void) __attribute__((weak));
int main(void) { return used() + (nobodys ? 1 : 0); }
