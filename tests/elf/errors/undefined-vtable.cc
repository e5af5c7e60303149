//# about: a missing vtable is explained by the key function
//# lang: c++
//# only: weld lld -- others do not explain it
//# fail: %pie undefined-vtable.o
//# error: undefined symbol: vtable for Shape
//# error: key function
struct Shape { virtual int area(); virtual ~Shape() {} };
int main() { Shape s; return s.area(); }
