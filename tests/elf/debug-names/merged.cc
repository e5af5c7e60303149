//# about: --debug-names makes one table of names that has what those of all objects have; a verifier finds no fault with it
//# matrix: cc=clang types=no,yes how=plain,compressed,joined kind=pie
//# lang: c++
//# cxxflags: -g -gdwarf-5 -gpubnames -O0
//# [types=yes] cxxflags: -fdebug-types-section
//# [how=compressed] cxxflags: -gz
// Tables that lie one behind the other in one input are read, too.
//# [how=joined] link: -r merged.o other.o -o joined.o
//# [how=joined] link: %pie joined.o --debug-names -o out
//# [!how=joined] link: %pie merged.o other.o --debug-names -o out
//# section: .debug_names type=PROGBITS flags= align=4
//# sh: llvm-dwarfdump-22 --verify out | grep -c 'No errors'; llvm-dwarfdump-22 --debug-names out | grep -c 'Name Index @'
//# stdout: 1
//# stdout: 1
//# run: ./out
// Without the option there are two tables; names and entries are the same. Type units that both have are there once.
//# link: %pie merged.o other.o --no-debug-names -o apart
//# sh: llvm-dwarfdump-22 --debug-names apart | grep -c 'Name Index @'
//# stdout: 2
//# sh: bash list.sh out > out.txt; bash list.sh apart > apart.txt; test $(wc -l < out.txt) -gt 60 && echo many
//# stdout: many
//# [types=no] same: out.txt apart.txt
// A type unit that lost may have had its entries at other places.
//# [types=yes] sh: comm -23 <(sort -u out.txt) <(sort -u apart.txt) | wc -l; comm -13 <(cut -d' ' -f1,2 out.txt | sort -u) <(cut -d' ' -f1,2 apart.txt | sort -u) | wc -l
//# [types=yes] stdout: 0
//# [types=yes] stdout: 0
//# sh: llvm-dwarfdump-22 --debug-names out | sed -n 's/.*String: [^ ]* //p' | sort | uniq -d | wc -l
//# stdout: 0
//# sh: llvm-dwarfdump-22 --debug-names out > index
//# file: index => CU count: 2
//# [types=yes] file: index => Local TU count: [1-9]
//# [types=no] file: index => Local TU count: 0
//# file: index => Augmentation: 'LLVM0700'
#include <map>
#include <string>
#include "shared.h"
namespace ns { namespace in {
struct S { int a; static int sm; int f(int); enum E { X1, Y1 }; };
int S::f(int x) { struct Local { int z; } l; l.z = x; static int stat; return l.z + ++stat; }
int S::sm = 3;
} }
int Same, same, SAME;
static int shared(Shared *s) { return s->a; }
int other(std::map<std::string, int> &);
int main(int argc, char **argv) {
  std::map<std::string, int> m; m[argv[0]] = 1;
  Shared shared_here = { argc };
  return ns::in::S().f(1) + shared(&shared_here) + other(m) - 4 + Same + same + SAME;
}
//--- shared.h
struct Shared { int a; struct Inner { int b; } inner; };
//--- other.cc
#include <map>
#include <string>
#include "shared.h"
namespace ns { namespace in { struct Other { int a; int f() { return a; } }; } }
static int shared(Shared *s) { return s->inner.b; }
int other(std::map<std::string, int> &m) {
  Shared s = { 0, { 1 } };
  ns::in::Other o = { (int)m.size() };
  return shared(&s) + o.f() - 1;
}
//--- list.sh
llvm-dwarfdump-22 --debug-names $1 | awk '/String:/ { name = $NF } /Tag:/ { tag = $2 } /DW_IDX_die_offset: 0x/ { print name, tag, $2 }' | sort
