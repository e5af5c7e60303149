//# about: reports of -r: dependencies, why members are linked, commons; a map is refused with a warning
//# only: weld -- about its own words
//# sh: ar rcs libx.a one.o two.o
//# link: -r relocatable.o libx.a --dependency-file=out.d --why-extract=- --warn-common -t -o out.o
//# warning: common symbol has several definitions: c
//# stdout-re: (?m)^relocatable\.o\tlibx\.a\(one\.o\)\tone$
//# stdout-re: (?m)^libx\.a\(one\.o\)$
//# file: out.d => ^out\.o: \\\n  relocatable\.o \\\n  libx\.a\n
//# link: -r relocatable.o libx.a -Map=m --cref -o out2.o
//# warning: -Map has no effect with -r
//# warning: --cref has no effect with -r
//# missing: m
//# fail: -r relocatable.o --require-defined=gone -o out3.o
//# error: gone is not defined
.globl _start
_start: call one
.comm c, 4, 4
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.comm c, 4, 4
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
