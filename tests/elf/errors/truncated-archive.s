//# about: archives cut short anywhere, and with bad headers
//# not: bfd mold lld -- each accepts some of these
//# obj: truncated-archive.o = truncated-archive.s
//# sh: ar rcs libx.a x.o && n=$(stat -c %s libx.a) && head -c $((n - 10)) libx.a > short.a && head -c 40 libx.a > header.a && sed 's/`/x/' libx.a > magic.a && { head -c 8 libx.a; echo garbage garbage garbage; } > junk.a
//# fail: truncated-archive.o short.a
//# error: short\.a
//# fail: truncated-archive.o header.a
//# error: header\.a
//# fail: truncated-archive.o magic.a
//# error: magic\.a
//# fail: truncated-archive.o junk.a
//# error: junk\.a
// Also where the member that is cut off is not needed.
//# sh: ar rcs two.a x.o y.o && n=$(stat -c %s two.a) && head -c $((n - 10)) two.a > cut.a
//# fail: truncated-archive.o cut.a
//# error: cut\.a: malformed archive: member reaches past the end of the archive
.globl _start
_start: call x
.section .note.GNU-stack,"",@progbits
//--- x.s
.globl x
x: ret
.section .note.GNU-stack,"",@progbits
//--- y.s
.globl y
y: ret
.section .note.GNU-stack,"",@progbits
