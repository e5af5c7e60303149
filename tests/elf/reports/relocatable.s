//# about: reports of -r: dependencies, why members are linked, commons, a map, cross references
//# only: weld -- about its own words
//# sh: ar rcs libx.a one.o two.o
//# link: -r relocatable.o libx.a --dependency-file=out.d --why-extract=- --warn-common -t -o out.o
//# warning: common symbol has several definitions: c
//# stdout-re: (?m)^relocatable\.o\tlibx\.a\(one\.o\)\tone$
//# stdout-re: (?m)^libx\.a\(one\.o\)$
//# file: out.d => ^out\.o: \\\n  relocatable\.o \\\n  libx\.a\n
//# link: -r relocatable.o libx.a -Map=m --cref -o out2.o
//# file: m => (?m)^ +0 +0 +6 +1 \.text\n.* relocatable\.o:\(\.text\)\n.* _start\n +5 +5 +1 +1 +libx\.a\(one\.o\):\(\.text\)$
//# file: m => (?m)^one +libx\.a\(one\.o\)\n +relocatable\.o$
//# sh: $LD -r relocatable.o libx.a --print-dependencies -o out4.o
//# stdout-re: (?m)^relocatable\.o:\(\.text\)\tlibx\.a\(one\.o\):\(\.text\)\tu\tone$
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
