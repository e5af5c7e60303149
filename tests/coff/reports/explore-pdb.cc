//# about: weld explore reads the PDB that an image names: symbols, their objects and sources, sizes; it says when it finds none
//# only: weld -- others have no such command
//# obj: small.obj = explore-pdb.cc -O1 -g -gcodeview -ffunction-sections -std=c++17
//# obj: large.obj = explore-pdb.cc -O1 -g -gcodeview -ffunction-sections -std=c++17 -DLARGE
//# obj: member.obj = member.cc -O1 -g -gcodeview -ffunction-sections
//# sh: llvm-lib-22 /out:m.lib member.obj
//# link: small.obj m.lib /entry:start /subsystem:console /debug /out:small.exe /pdb:small.pdb
//# link: large.obj m.lib /entry:start /subsystem:console /debug /out:large.exe /pdb:large.pdb
//# sh: $LD explore small.exe large.exe --format=json > growth.json && python3 check.py growth.json
//# sh: lld-link-22 small.obj m.lib /entry:start /subsystem:console /debug /out:other.exe && $LD explore other.exe large.exe --format=json > growth.json && python3 check.py growth.json symbols
//# sh: ! $LD explore --pdb=small.pdb large.exe 2> said && grep 'large.exe: it was not linked with this PDB' said
//# sh: ! $LD explore --pdb=large.exe large.exe 2> said && grep 'large.exe: it was not linked with this PDB' said
//# sh: mv large.pdb moved && $LD explore large.exe 2> said && grep 'large.exe: its PDB is not at large.pdb or .*; --pdb=FILE names it' said
//# sh: $LD explore --old-pdb=small.pdb --pdb=moved small.exe large.exe --format=json > growth.json && python3 check.py growth.json
int member(int);
namespace ns {
template <class T> struct Box {
    T value;
    __attribute__((noinline)) T get(T more) { return value + more; }
};
} // namespace ns
static int counter[40];
__attribute__((noinline)) static int hidden(int n) {
    counter[n & 7] += n;
#ifdef LARGE
    for (int i = 0; i < n; ++i) counter[i & 31] ^= counter[(i + n) & 31] * 3;
#endif
    return n * 7 + counter[(n + 1) & 7];
}
__attribute__((noinline)) int twice(int n) { return hidden(n) * 2 + ns::Box<int>{n}.get(3); }
#ifdef LARGE
extern "C" int only_here(int n) { return n * n * 5 + 1; }
extern "C" int start(void) { return twice(3) - 3 + member(0) + only_here(2); }
#else
extern "C" int start(void) { return twice(3) - 3 + member(0); }
#endif
//--- member.cc
int table[100] = {1, 2};
int member(int n) { return n * n + table[n]; }
//--- check.py
import json, sys

growth = json.load(open(sys.argv[1]))
symbols = {row["name"]: (row["old"], row["new"]) for row in growth["symbols"]}
assert 0 < symbols["hidden"][0] < symbols["hidden"][1], symbols
assert symbols["only_here"][0] == 0 < symbols["only_here"][1], symbols
# What has not changed is not listed.
assert not any("table" in name or "twice" in name for name in symbols), symbols
if len(sys.argv) > 2:
    sys.exit()
objects = {row["name"].replace("\\", "/").split("/")[-1]: (row["old"], row["new"]) for row in growth["objects"]}
assert 0 < objects["large.obj"][0] < objects["large.obj"][1] and "m.lib" not in objects, objects
(source,) = growth["sources"]
assert 0 < source["old"] < source["new"], growth
