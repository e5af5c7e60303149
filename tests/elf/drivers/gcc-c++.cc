//# about: g++ with threads, sanitizers of undefined behaviour, coverage and profile flags
//# matrix: flags=-pthread,-fsanitize=undefined,--coverage,-pg,-flto=off,-g3,-rdynamic,-fno-plt
//# [flags=-flto=off] sh: g++ -B $LD_DIR -fno-lto gcc-c++.cc -o out
//# [!flags=-flto=off] sh: g++ -B $LD_DIR {flags} gcc-c++.cc -o out
//# run: ./out
//# stdout: 42
#include <iostream>
#include <thread>
int main() { int n = 0; std::thread t([&] { n = 42; }); t.join(); std::cout << n << "\n"; }
