//# about: -E exports all, --dynamic-list and --export-dynamic-symbol what they name
//# machines: aarch64 riscv64 i386 s390x ppc64le ppc64 mipsel
//# link: %pie export-dynamic.o -o none
//# no-dynsym: f g
//# link: %pie export-dynamic.o -E -o all
//# dynsym: f
//# dynsym: g
//# no-dynsym: hidden
//# link: %pie export-dynamic.o --export-dynamic --no-export-dynamic -o none2
//# no-dynsym: f
//# link: %pie export-dynamic.o --dynamic-list=list -o list1
//# dynsym: f
//# no-dynsym: g
//# link: %pie export-dynamic.o --export-dynamic-symbol=f --export-dynamic-symbol 'main*' -o list2
//# dynsym: f
//# dynsym: main
//# no-dynsym: g
//# [lld|bfd|weld] link: %pie export-dynamic.o --export-dynamic-symbol-list=list -o list3
//# [lld|bfd|weld] dynsym: f
int f(void) { return 0; }
int g(void) { return 0; }
__attribute__((visibility("hidden"))) int hidden(void) { return 0; }
int main(void) { return f() + g() + hidden(); }
//--- list
{ f; extern "C++" { "nothing()"; }; };
