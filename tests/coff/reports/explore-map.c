//# about: weld explore reads maps of PE images: /map and /lldmap of lld-link and of weld, -Map of GNU ld for MinGW; names and objects of an image that has neither symbols nor a PDB
//# only: weld -- others have no such command
//# obj: small.obj = explore-map.c -O1 -ffunction-sections
//# obj: large.obj = explore-map.c -O1 -ffunction-sections -DLARGE
//# obj: member.obj = member.c -O1 -ffunction-sections
//# sh: llvm-lib-22 /out:m.lib member.obj
//# sh: try() { for size in small large; do "$@" $size.obj m.lib /entry:start /subsystem:console /nodefaultlib /out:$size.exe; mv said.map $size.map; done; $LD explore --old-map=small.map --map=large.map small.exe large.exe --format=json > growth.json; }; declare -f try > try.sh
//# sh: . ./try.sh; try lld-link-22 /map:said.map; python3 check.py growth.json symbols
//# sh: . ./try.sh; try lld-link-22 /lldmap:said.map; python3 check.py growth.json
//# sh: . ./try.sh; try $LD -flavor link /map:said.map; python3 check.py growth.json symbols
//# sh: . ./try.sh; try $LD -flavor link /lldmap:said.map; python3 check.py growth.json
//# sh: ! $LD explore --map=small.map --old-map=large.map check.py small.exe
//# sh: for size in small large; do x86_64-w64-mingw32-ld -s -e start $size.obj m.lib -o $size.exe -Map=$size.map; done; $LD explore --old-map=small.map --map=large.map small.exe large.exe --format=json > growth.json; python3 check.py growth.json
int member(int);
static int table[50] = {1};
__attribute__((noinline)) int twice(int n) { return n * 2 + member(n); }
#ifdef LARGE
__attribute__((noinline)) static int only_here(int n) { return n * n * 5 + table[n & 3]; }
int start(void) { return twice(table[1]) + only_here(3); }
#else
int start(void) { return twice(table[1]); }
#endif
//--- member.c
int large[2000] = {2};
int member(int n) { return n * n + large[n]; }
//--- check.py
import json, sys

growth = json.load(open(sys.argv[1]))
objects = {row["name"]: (row["old"], row["new"]) for row in growth["objects"]}
# They are taken for one object that was renamed.
assert 20 < objects["large.obj"][0] < objects["large.obj"][1], objects
assert not any("member" in name for name in objects), objects
assert max(objects.get("(not known)", (0, 0))) < 4000, objects
if len(sys.argv) > 2:
    symbols = {row["name"]: (row["old"], row["new"]) for row in growth["symbols"]}
    assert symbols["only_here"][0] == 0 < symbols["only_here"][1] < 40, symbols
    assert symbols["start"][0] < symbols["start"][1] and "twice" not in symbols, symbols
