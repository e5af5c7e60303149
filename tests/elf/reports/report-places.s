//# about: reports follow links, go into files of directories that cannot be written to, and to pipes
//# only: weld -- about its way to replace them
//# sh: ls report-places.o; timeout 30 bash try
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- try
o=report-places.o
mkdir there && echo old >there/map && ln -s there/map map
$LD $o -Map=map -o out && test -L map && grep -q _start there/map
mkfifo pipe && (cat pipe >piped &) && $LD $o -Map=pipe -o out && sleep 0.1 && test -p pipe && grep -q _start piped
$LD $o -Map=/dev/stdout -o out | grep _start >/dev/null
# What a link that fails has come to is written as well.
if $LD $o -u missing --require-defined=missing --why-extract=why -Map=nomap -o out 2>/dev/null; then exit 1; fi
test -s why && test ! -e nomap
