//# about: a thread-local variable of another module is one in the dynamic symbol table, too: GNU ld refuses programs whose libraries say otherwise
//# cflags: -fPIC
//# obj: defines.o = defines.c -fPIC
//# obj: main.o = main.c -fPIC
//# link: -shared undefined-types.o -o libuses.so
//# link: -shared defines.o -o libdefines.so
//# sh: readelf --dyn-syms -W libuses.so >symbols; grep ' TLS .* UND variable' symbols; grep ' TLS .* UND by_offset' symbols; grep ' NOTYPE .* UND plain' symbols
//# sh: $CC -fuse-ld=bfd -Wl,--no-as-needed main.o libdefines.so libuses.so -Wl,-rpath,. -o by-gnu; ./by-gnu
extern __thread int variable;
extern __thread int by_offset __attribute__((tls_model("initial-exec")));
extern int plain;
int get(void) { return variable + by_offset + plain; }
//--- defines.c
__thread int variable = 40;
__thread int by_offset = 2;
int plain = 1;
//--- main.c
int get(void);
int main(void) { return get() != 43; }
