//# about: /explore: every byte of the image is in one piece, as much as each section has; who brought it, why it is there, what it alone keeps, which DLLs it needs
//# only: weld -- others have no such option
//# obj: explore.obj = explore.cc -O1 -ffunction-sections -std=c++17
//# obj: member.obj = member.cc -O1 -ffunction-sections -std=c++17
//# obj: delay.obj = delay.cc -O1
//# sh: llvm-lib-22 /out:m.lib member.obj && llvm-lib-22 /machine:x64 /def:needed.def /out:needed.lib
//# link: explore.obj m.lib needed.lib /entry:start /subsystem:console /opt:ref /explore:page.html /debug /pdb:out.pdb
//# sh: PYTHONPATH={explore} python3 check.py out.exe page.html
//# link: explore.obj m.lib needed.lib /entry:start /subsystem:console /opt:noref,noicf /delayload:needed.dll delay.obj /explore:all.html /out:all.exe
//# sh: PYTHONPATH={explore} python3 check.py all.exe all.html
//# sh: $LD -flavor mingw explore.obj m.lib needed.lib -e start --subsystem console --explore=gnu.html -o gnu.exe && PYTHONPATH={explore} python3 check.py gnu.exe gnu.html
//# sh: $LD explore all.exe -o later.html && PYTHONPATH={explore} python3 check.py all.exe later.html sums
int member(int);
template <class T> struct Box {
    T value;
    __attribute__((noinline)) T get(T more) { return value + more; }
};
__attribute__((noinline)) int twice(int n) { return n * 2 + Box<int>{n}.get(3); }
int zeroes[1000];
extern "C" __declspec(dllimport) int by_address(int);
extern "C" int by_jump(int);
extern "C" int start(void) { return twice(zeroes[3]) - 3 + member(0) + by_address(1) + by_jump(2); }
//--- member.cc
int member(int n) { return n * n; }
//--- delay.cc
extern "C" void *__delayLoadHelper2(const void *, void **slot) { return *slot; }
//--- needed.def
LIBRARY needed.dll
EXPORTS
  by_address
  by_jump
//--- check.py
import os, struct, sys
from page import Page

path, file = sys.argv[1:3]
page = Page(file)
meta, names, tables = page.meta, page.names, page.tables
pieces, inputs, objects = page.pieces(), page.table("input_sections"), page.table("objects")
size = os.path.getsize(path)
assert meta["kind"] == "pe" and meta["file_size"] == size == sum(pieces["size"]), (size, sum(pieces["size"]))

image = open(path, "rb").read()
header = struct.unpack_from("<I", image, 60)[0] + 4
count, = struct.unpack_from("<H", image, header + 2)
optional, = struct.unpack_from("<H", image, header + 16)
shown = [names[n] for n in tables["output_sections", "name"]]
in_file, memory = [0] * count, [0] * count
for i, out in enumerate(pieces["output_section"]):
    if out:
        in_file[out - 1] += pieces["size"][i]
        memory[out - 1] += pieces["memory"][i]
for row in range(count):
    name, virtual, address, raw, offset = struct.unpack_from("<8sIIII", image, header + 20 + optional + 40 * row)
    name = name.rstrip(b"\0").decode()
    assert shown[row] == name, (shown, name)
    assert memory[row] == virtual, (name, memory[row], virtual)
    if len(sys.argv) < 4:
        assert in_file[row] == raw, (name, in_file[row], raw)

# Who needs the DLL: the file itself does not say.
libraries = [names[n] for n in tables["libraries", "name"]]
imports = page.table("imports")
wanted = set(zip(imports["library"], (names[n] for n in imports["symbol"]), imports["input_section"]))
assert libraries == ["needed.dll"], libraries
if len(sys.argv) == 4:
    assert wanted == {(1, "by_address", 0), (1, "by_jump", 0)}, wanted
    sys.exit()

of = {names[n]: i for i, n in enumerate(pieces["name"]) if n}


def piece(part):
    return next(i for name, i in of.items() if part in name)


def section(part):
    return pieces["input_section"][piece(part)] - 1


member = inputs["object"][section("member(int)")] - 1
assert names[objects["name"][member]] == "member.obj", names[objects["name"][member]]
assert names[tables["archives", "name"][objects["archive"][member] - 1]] == "m.lib"
assert names[pieces["instance"][piece("Box<int>::get")]].endswith("Box<…>::get"), names[pieces["instance"][piece("Box<int>::get")]]
twice, get, entry = section("twice(int)"), section("Box<int>::get"), section("start")
assert get in page.references()[twice]
roots = zip(*(tables["roots", column] for column in ["input_section", "reason", "symbol"]))
reasons = {section: f"{names[reason]} {names[symbol]}".rstrip() for section, reason, symbol in roots}
assert reasons[entry] == "entry start", reasons[entry]
assert {(1, "by_address", entry + 1), (1, "by_jump", entry + 1)} <= wanted, wanted
if file == "page.html":
    assert page.dominators()[get] == twice, (page.dominators()[get], twice)
