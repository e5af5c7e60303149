//# about: --dependency-file writes a rule that make understands
//# not: bfd mold -- they do not quote blanks
//# sh: ar rcs "lib x.a" two.o
//# link: dependency-file.o "lib x.a" -o out --dependency-file=out.d
//# file: out.d => ^out:
//# file: out.d => dependency-file\.o
//# sh: printf 'all: out\n\nout:\n\ttouch out\n' > Makefile && cat out.d >> Makefile && { command -v make >/dev/null || exit 0; } && make -q && touch -d 'now + 1 minute' dependency-file.o && ! make -q
.globl _start
_start: call two
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
