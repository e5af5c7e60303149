//# about: bounds of sections that were removed are not defined: null if the reference is weak, else an error
//# machines: aarch64 riscv64
//# only: weld lld -- the option is theirs, with these defaults
//# matrix: kind=pie,shared,nopie
//# [kind=nopie] obj: main.o = start-stop-gone.c -fno-pic
//# [!kind=nopie] obj: main.o = start-stop-gone.c -fPIC
//# link: %{kind} main.o --gc-sections -z start-stop-gc
//# no-symbol: in_set
//# no-dynsym: __stop_set
//# [kind=shared] dynsym: __start_set section=UND bind=WEAK
//# [!kind=shared] run: ./out
//# link: %{kind} main.o --gc-sections -z nostart-stop-gc -o kept
//# symbol: in_set
//# [!kind=shared] run: ./kept
//# [!kind=shared] exit: 1
//# [!kind=shared] fail: %{kind} main.o strong.o --gc-sections -z start-stop-gc
//# [!kind=shared] error: undefined symbol: __stop_set
//# [!kind=shared] error: nostart-stop-gc
extern char __start_set[] __attribute__((weak));
static int in_set __attribute__((section("set"), used)) = 1;
int main(void) { return __start_set != 0; }
//--- strong.s
.data
.globl strong
strong: .quad __stop_set
.section .init_array,"aw",@init_array
.quad strong
.section .note.GNU-stack,"",@progbits
