//# about: --warn-backrefs says once that a member would not be taken, however many hidden references there are
//# only: weld lld -- others have no such option
//# sh: rm -f liba.a && ar rcs liba.a a.o
//# link: liba.a backrefs-once.o b.o --warn-backrefs
//# warning: backward reference.*liba\.a
//# sh: $LD liba.a backrefs-once.o b.o --warn-backrefs -o x 2>&1 | grep -c backward > count
//# file: count => ^1$
.globl _start
.hidden h
_start: call h
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl h
h: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.hidden h
call h
.section .note.GNU-stack,"",@progbits
