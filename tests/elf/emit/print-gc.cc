//# about: --print-gc-sections names each section with its file; =FILE writes to it
//# link: %pie print-gc.o --gc-sections --print-gc-sections
//# cxxflags: -ffunction-sections
//# lang: c++
//# [!bfd] stdout-re: print-gc\.o:\(\.text\._Z6unusedi\)
int unused(int n) { return n; }
int main() { return 0; }
