//# about: -r reads CREL relocations and compressed sections, and writes plain ones
//# only: weld -- lld writes CREL, others here do not read it
//# obj: crel.o = formats.c @clang -g -gz=zlib -Wa,--crel,--allow-experimental-crel -DMAIN
//# obj: rela.o = formats.c @clang -g -gz=zstd
//# link: -r crel.o rela.o -o r.o
//# section: .rela.text type=RELA
//# [weld] section: .debug_info flags=
//# sh: llvm-dwarfdump-22 --verify r.o && llvm-dwarfdump-22 --debug-info r.o | grep other >/dev/null
//# sh: ld.bfd -r r.o -o bfd.o
//# link: %pie bfd.o
//# run: ./out
//# exit: 7
#ifdef MAIN
int other(int);
int main(void) { return other(3); }
#else
int other(int n) { return n + 4; }
#endif
