//# about: hints: extern "C" lost or missing, a libm function, a missing -lpthread-like library
//# lang: c++
//# fail: %pie undefined-hints.o other.o
//# error: undefined symbol: c_function
//# [weld|lld] error: c_function\(\)
int c_function(void);
int main(void) { return c_function(); }
//--- other.cc
int c_function() { return 0; }
