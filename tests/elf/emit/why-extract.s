//# about: --why-extract says which reference took a member out
//# only: weld lld -- others have no such option
//# sh: ar rcs libx.a two.o
//# link: why-extract.o libx.a --why-extract=why.txt
//# file: why.txt => reference\textracted\tsymbol
//# file: why.txt => why-extract\.o\tlibx\.a\(two\.o\)\ttwo
.globl _start
_start: call two
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
