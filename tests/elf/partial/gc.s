//# about: -r with --gc-sections and a root
//# not: mold -- 1.10 drops nothing here
//# link: -r gc.o --gc-sections -u kept -e 0 -o r.o
//# symbol: kept
//# no-symbol: dropped
.section .text.kept,"ax",@progbits
.globl kept
kept: ret
.section .text.dropped,"ax",@progbits
.globl dropped
dropped: ret
.section .note.GNU-stack,"",@progbits
