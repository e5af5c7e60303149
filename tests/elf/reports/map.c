//# about: the map: addresses as in the image, sections that gc took are not there, commons, copies, merged strings, linker's symbols
//# matrix: kind=pie,nopie
//# [kind=nopie] cflags: -fno-pie -fcommon -ffunction-sections
//# [kind=pie] cflags: -fPIE -fcommon -ffunction-sections
//# obj: lib.o = lib.c -fPIC
//# only: weld lld -- about their format
//# link: %shared lib.o -o libx.so
//# link: %{kind} map.o -L. -lx --gc-sections -Map=m.txt
//# file: m.txt => (?m)^ +VMA +LMA +Size Align Out +In +Symbol$
//# file: m.txt => (?m)^ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +[0-9]+         map\.o:\(\.text\.main\)$
//# file: m.txt => (?m)^ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +1                 main$
//# file: m.txt => (?m)        map\.o:\(COMMON\)$
//# file: m.txt => (?m)^ +[0-9a-f]+ +[0-9a-f]+ +28 +1                 common_array$
//# sh: ! grep unused_function m.txt
//# sh: python3 check.py
//# run: ./out
//# link: %{kind} map.o -L. -lx -Map=- --cref
//# stdout-re: (?m)^common_array +map\.o$
//# stdout-re: VMA
#include <stdio.h>
int common_array[10];
extern int copied[3];
int unused_function(void) { return 1; }
int main(void) { return printf("%s", "") + common_array[2] + copied[1]; }
//--- lib.c
int copied[3] = {0, 0, 0};
//--- check.py
import re, subprocess
want = {}
for line in subprocess.check_output(["nm", "out"], text=True).splitlines():
    m = re.match(r"([0-9a-f]+) \w (\S+)$", line)
    if m:
        want[m.group(2)] = int(m.group(1), 16)
seen = 0
for line in open("m.txt"):
    m = re.match(r" *([0-9a-f]+) +[0-9a-f]+ +[0-9a-f]+ +1 {17}(\S+)$", line)
    if m and m.group(2) in want:
        assert int(m.group(1), 16) == want[m.group(2)] or m.group(2) in ("__dso_handle",), (line, hex(want[m.group(2)]))
        seen += 1
assert seen > 10, seen
