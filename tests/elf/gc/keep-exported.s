//# about: --gc-keep-exported: what other modules could see stays, also in an executable.
//# only: weld bfd -- no other linker has it
//#
//# link: --gc-sections --gc-keep-exported keep-exported.o
//# symbol: seen
//# symbol: guarded
//# no-symbol: hidden local
//# link: --gc-sections keep-exported.o
//# no-symbol: seen guarded hidden local
.globl _start, seen, guarded, hidden
.hidden hidden
.protected guarded
.text
_start:
    ret
.section .text.seen, "ax"
seen:
    ret
.section .text.guarded, "ax"
guarded:
    ret
.section .text.hidden, "ax"
hidden:
    ret
.section .text.local, "ax"
local:
    ret
