//# about: names that are no UTF-8 keep their bytes in messages, maps, lists, rules, archives and dynamic sections
//# only: weld -- about its own texts
//# sh: ls bytes.o member.o inlib.o; timeout 30 bash try
.globl _start
_start: call member
  call inlib
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl member
member: ret
.section .note.GNU-stack,"",@progbits
//--- inlib.s
.globl inlib
.type inlib,@function
inlib: ret
.section .note.GNU-stack,"",@progbits
//--- try
export LC_ALL=C
n=$(printf 'n\377\303') && mkdir "$n" && cp bytes.o "$n.o" && cp member.o "$n/m.o" || exit 1
ar rcsT "$n/l.a" "$n/m.o"
$LD -shared inlib.o -o "$n.so"
$LD "$n.o" "$n/l.a" "$n.so" -o "$n.out" --dependency-file=dep -Map=map -t --cref --why-extract=why --reproduce=r.tar >trace || exit 1
for f in dep map trace why; do grep -qaF "$n.o" $f || { echo "$f:"; cat -v $f; exit 1; }; done
grep -qaF "$n.out: " dep && grep -qaF "$n/m.o" dep || exit 1
# make finds each of them.
{ printf 'all:'; printf ' %s' "$n.out"; printf '\n%s:\n\tfalse\n' "$n.out"; cat dep; } >Makefile
if command -v make >/dev/null; then make -q || { make -n; exit 1; }; fi
readelf -dW "$n.out" | grep -aF "NEEDED" | grep -aF "$n.so" >/dev/null || exit 1
tar -xf r.tar && (cd r && $LD @response.txt && test -x "$n.out" && test -s map) || exit 1
if $LD "$n.o" "$n.none" -o x 2>err; then exit 1; fi
grep -qaF "cannot open $n.none" err || exit 1
if $LD "$n.o" -o x 2>err; then exit 1; fi
grep -qaF ">>> referenced by $n.o:(.text+0x1)" err
