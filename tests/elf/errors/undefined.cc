//# about: all undefined symbols, demangled, each with up to three referrers with function and line, and a hint
//# cxxflags: -g
//# lang: c++
//# fail: %pie undefined.o two.o
//# error: undefined symbol: missing\(int\)
//# error: undefined symbol: missing_data
//# error: undefined.cc:17
//# error: main
//# error: undefined.o
//# error: referenced 4 more times|referenced 1 more time
//# error: did you mean:? .*presnet|presnet
//# error: undefined symbol: present\(\)
int missing(int);
extern int missing_data;
int present();
int presnet();
int main() { return missing(1) + missing_data + present(); }
int a() { return missing(2); }
int b() { return missing(3); }
int c() { return missing(4); }
//--- two.cc
int presnet() { return 0; }
