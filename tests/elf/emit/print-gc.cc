//# about: --print-gc-sections names each section with its file; =FILE writes to it
//# link: %pie print-gc.o --gc-sections --print-gc-sections
//# cxxflags: -ffunction-sections
//# lang: c++
//# [!bfd] stdout-re: print-gc\.o:\(\.text\._Z6unusedi\)
//# [weld|lld] link: %pie print-gc.o --gc-sections --print-gc-sections=gone.txt
//# [weld|lld] stdout-not: unused
//# [weld|lld] file: gone.txt => print-gc\.o:\(\.text\._Z6unusedi\)
//# [weld] fail: %pie print-gc.o --gc-sections --print-gc-sections=no/such/file
//# [weld] error: cannot create no/such/file
int unused(int n) { return n; }
int main() { return 0; }
