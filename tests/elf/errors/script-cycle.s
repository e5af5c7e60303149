//# about: a library script that includes itself
//# not: mold bfd lld -- they run out of something
//# fail: script-cycle.o libx.so
//# error: libx\.so
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- libx.so
INPUT ( libx.so )
