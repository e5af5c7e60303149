//# about: long options with one dash or two, values joined or apart, repeated outputs
//# link: spelling.o -o first -osecond
//# exists: second
//# missing: first
//# link: spelling.o --entry=_start -oout4
//# exists: out4
//# [!mold] link: spelling.o -entry _start --output out5
//# check: entry == sym(_start)
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
