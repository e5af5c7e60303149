//# about: what is wrong with bitcode and with what is asked of compilers is said by name, and the old output stays
//# not: bfd mold lld -- messages are weld's
//# obj: errors.o = errors.c @clang -O2 -flto
//# obj: twice.o = errors.c @clang -O2 -flto
//# obj: asm.o = asm.c @clang -O2 -flto
//# obj: arm.o = empty.c @clang -O2 -flto --target=aarch64-linux-gnu -ffreestanding
//# fail: %pie errors.o twice.o
//# error: duplicate symbol: main
//# error: defined at errors\.o
//# error: defined at twice\.o
//# fail: %pie errors.o
//# error: undefined symbol: missing
//# fail: %pie errors.o arm.o --defsym=missing=0
//# error: arm\.o: is incompatible with elf_x86_64: it is for AArch64
//# sh: head -c 700 errors.o > cut.o; printf 'BC\300\336' > empty.o
//# fail: %pie cut.o
//# error: cut\.o: .*intermediate code
//# fail: %pie empty.o
//# error: (LLVM|weld-lto-engine-22).* failed
//# error: does not contain any modules
//# error: compiling empty\.o
//# fail: %pie errors.o --defsym=missing=0 --lto-engine=/no/such/LLVMgold.so
//# error: /no/such/LLVMgold\.so
//# fail: %pie errors.o --lto-partitions=0
//# error: --lto-partitions: expected a number of at least 1, but got '0'
//# fail: %pie errors.o --thinlto-jobs=foo
//# error: --thinlto-jobs: expected a number or 'all', but got 'foo'
//# fail: %pie errors.o --plugin-opt=thinlto-prefix-replace=abc:def
//# error: --plugin-opt: expected OLD;NEW, but got 'abc:def'
//# fail: %pie errors.o --plugin-opt=thinlto-object-suffix-replace=abc:def
//# error: --plugin-opt: expected OLD;NEW, but got 'abc:def'
//# sh-fail: $LD errors.o -o bad --thinlto-emit-index-files '--thinlto-prefix-replace=a;b'
//# stderr-re: thinlto-prefix-replace cannot be used together with thinlto-emit-index-files
//# fail: %pie errors.o --thinlto-cache-policy=bogus
//# error: --thinlto-cache-policy: 'bogus' is none of cache_size=N%
//# fail: %pie errors.o --save-temps=x
//# error: --save-temps: expected resolution, preopt
//# fail: errors.o --plugin-opt=foo
//# error: --plugin-opt: unknown plugin option 'foo'
//# fail: %pie asm.o
//# error: (LLVM|weld-lto-engine-22).* failed
//# error: invalid instruction mnemonic 'invalid'
//# error: compiling asm\.o
//# fail: %pie errors.o --defsym=missing=0 --lto-newpm-passes=x --lto-engine=/usr/lib/llvm-22/lib/LLVMgold.so
//# error: cannot do --lto-newpm-passes
//# error: weld lto-engine build
//# fail: %pie errors.o --lto-O4
//# error: --lto-O: expected 0, 1, 2 or 3, but got '4'
//# fail: %pie errors.o --lto=unknown
//# error: --lto: expected full, thin or default, but got 'unknown'
//# fail: %pie errors.o --defsym=missing=0 -mllvm -no-such-option
//# error: link-time optimisation
void missing(void);
int main(void) { missing(); }
//--- asm.c
int main(void) { __asm__("invalid"); }
//--- empty.c
int nothing;
