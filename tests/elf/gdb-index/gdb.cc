//# about: GDB says the same with --gdb-index as without, whether names come from lists of the compiler or from the debug information itself
//# matrix: cc=gcc,clang dwarf=4,5 names=listed,found,typeunits kind=pie
//# except: cc=clang names=typeunits dwarf=5 -- once is enough
//# lang: c++
//# cxxflags: -g -gdwarf-{dwarf} -O0
//# [names=listed] cxxflags: -ggnu-pubnames
//# [names=typeunits] cxxflags: -fdebug-types-section
//# link: %pie gdb.o --gdb-index -o indexed
//# link: %pie gdb.o -o unindex
//# in: indexed
//# section: .gdb_index type=PROGBITS flags= align=4
//# no-section: .debug_gnu_pubnames .debug_gnu_pubtypes
//# sh: bash ask.sh indexed > indexed.txt && bash ask.sh unindex > unindex.txt && diff indexed.txt unindex.txt
//# file: indexed.txt => Breakpoint 1 at .*gdb.cc, line
//# file: indexed.txt => type = struct ns::in::S \{
//# file: indexed.txt => #1 .* in main \(argc=1, argv=
//# [names=listed|found] sh: gdb -nx -batch -ex 'maint print objfiles' indexed > objfiles.txt 2>&1; grep '^.gdb_index: version 7' objfiles.txt
//# [names=typeunits cc=gcc dwarf=5] contains: .gdb_index = \x09\0\0\0\x1c\0\0\0
#include <map>
#include <string>
namespace ns { namespace in {
struct S { int a; static int sm; int f(int); enum E { X1, Y1 }; struct N { int q; }; };
int S::f(int x) { struct Local { int z; } l; l.z = x; static int stat; return l.z + ++stat; }
int S::sm = 3;
enum class EC { A, B };
template <class T> struct T1 { T t; T get() { return t; } };
template <class T> T tf(T x) { return x; }
int v;
} namespace al = in; using in::v; }
namespace { int anonv; int anonf(int i) { return i + anonv; } struct AnonS { int k; }; AnonS as; }
enum { AE1, AE2 };
typedef int myint;
extern "C" int cfn(int a) { return a; }
static inline int inl(int a) { return a * 2; }
static const int konst = 7;
thread_local int tl;
class Cls { public: virtual ~Cls(); virtual int vf() { return 1; } };
Cls::~Cls() {}
inline int iv = 4;
myint m;
int main(int argc, char **argv) {
  std::map<std::string, int> mm;
  mm["a"] = argc;
  ns::in::T1<int> t{3};
  ns::in::EC e = ns::in::EC::A;
  ns::in::S s{7};
  s.f(argc);
  return t.get() + ns::in::tf(3) + anonf(2) + inl(AE2) + (int)e + konst + as.k - 100 + tl + iv + cfn(1);
}
//--- ask.sh
export DEBUGINFOD_URLS=
commands=(
  "break ns::in::S::f" "break cfn" "break anonf" "info line main" "ptype ns::in::S" "ptype ns::in::EC" "ptype Cls"
  "ptype (anonymous namespace)::AnonS" "print sizeof(ns::in::T1<int>)" "print AE2" "print ns::in::EC::B" "print anonv"
  "print ns::in::v" "print konst" "whatis ns::in::tf<int>" "ptype myint" "info scope main" "info functions anonf"
  "info variables konst" "info types AnonS" "list cfn" "run" "bt" "print mm.size()" "print m" "info locals" "up"
  "info locals" "kill"
)
arguments=()
for command in "${commands[@]}"; do arguments+=(-ex "$command"); done
setarch -R gdb -nx -batch -ex 'set confirm off' -ex 'set width 0' -ex 'set height 0' "${arguments[@]}" "$1" 2>&1 |
  sed "s/$1/program/g; s/process [0-9]*/process/; s/0x[0-9a-f]*/ADDRESS/g"
