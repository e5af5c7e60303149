//# about: a PDB that says what lld's says of the same objects; lines and functions found by the image
//# cxxflags: -gcodeview -fno-exceptions -fno-rtti -ffunction-sections -std=c++17
//# link: pdb.obj more.obj /entry:entry /nodefaultlib /subsystem:console /debug
//# run:
//# exit: 54
//# readobj: --coff-debug-directory => (?s)Type: CodeView.*PDBSignature: 0x53445352.*PDBAge: 1\s+PDBFileName: {dir}/out.pdb
//# sh: mkdir lld; cp out.exe out.pdb lld; mv lld own; mkdir lld; cd lld; lld-link-22 ../pdb.obj ../more.obj /entry:entry /nodefaultlib /subsystem:console /debug /out:out.exe /pdbaltpath:{dir}/out.pdb
//# sh: for what in -types -ids -l -il -files '-globals -global-extras' -section-headers -section-map; do \
//#       cmp <(llvm-pdbutil-22 dump $what own/out.pdb) <(llvm-pdbutil-22 dump $what lld/out.pdb); done; \
//#     objects() { llvm-pdbutil-22 dump -symbols $1 | sed '/Linker/,$d'; }; cmp <(objects own/out.pdb) <(objects lld/out.pdb); \
//#     publics() { llvm-pdbutil-22 dump -publics -public-extras $1 | sed 's/^ *[0-9]* | S_PUB32/S_PUB32/; /off = /d; /Address Map/,$d'; }; \
//#     cmp <(publics own/out.pdb) <(publics lld/out.pdb)
//# sh: addresses() { llvm-pdbutil-22 dump -publics $1/out.pdb | sed -n 's/.*addr = 0001:\([0-9]*\)/\1/p'; }; \
//#     lines() { for at in $(addresses $1); do llvm-symbolizer-22 --relative-address --obj=$1/out.exe $((0x1000 + 10#$at)) $((0x1004 + 10#$at)); done; }; \
//#     lines own > own.txt; lines lld > lld.txt; cmp own.txt lld.txt; grep -c 'pdb.cc:4[0-9]' own.txt; grep 'more.cc:4' own.txt
//# sh: llvm-pdbutil-22 dump -symbols out.pdb > all; grep "S_OBJNAME.*\* Linker" all; grep -A 3 'S_ENVBLOCK' all; grep -- '- cmd' all; \
//#     grep 'pdb.obj more.obj /entry:entry /nodefaultlib /subsystem:console /debug' all; grep 'S_SECTION.*.text' all; grep 'S_COFFGROUP.*.text' all
//# sh: llvm-pdbutil-22 dump -all out.pdb | grep -i 'error: ' && exit 1; [ "$(llvm-pdbutil-22 dump -summary out.pdb | grep GUID | tr -d ' -')" = \
//#     "$(llvm-readobj-22 --coff-debug-directory out.exe | grep GUID | sed 's,PDB,,' | tr -d ' -')" ]
//# link: pdb.obj more.obj /entry:entry /nodefaultlib /subsystem:console /debug:none /out:plain.exe
//# readobj-not: --coff-debug-directory => Type
//# missing: plain.pdb
#include "shared.h"
extern "C" int _fltused = 0;
static int table[] = {1, 2, 3};
namespace inner {
struct Shape {
  int width, height;
  virtual int area() const { return width * height; }
};
enum class Colour { red, green = 7 };
constexpr int limit = 30;
}
template <class T> __attribute__((noinline)) T twice(T value) {
  return value + value;
}
__attribute__((noinline)) static int sum(const int *from, int count) {
  int all = 0;
  for (int i = 0; i < count; i++)
    all += from[i] * (all + 1);
  return all;
}
extern "C" int entry() {
  inner::Shape shape;
  shape.width = table[0];
  shape.height = (int)inner::Colour::green;
  return twice(sum(table, 3)) + other(shape.area()) - shared(inner::limit);
}
//--- more.cc
#include "shared.h"

int other(int value) {
  return shared(value) + 20;
}
//--- shared.h
struct Pair { int a; long long b; };
int other(int value);
__attribute__((noinline)) inline int shared(int value) {
  Pair pair{value, 2};
  return pair.a / (int)pair.b;
}
