//# about: a shared object or a program in an archive takes no part, which is said if members are looked at
//# only: weld -- its own words
//# link: -shared one.o -o one.so
//# link: start.o -o start
//# sh: ar rcS libx.a one.o one.so start
//# link: shared-member.o libx.a
//# warning: libx\.a\(one\.so\): is a shared object; only objects of an archive take part in a link
//# warning: libx\.a\(start\): is an executable; only objects of an archive take part in a link
//# symbol: one
//# link: shared-member.o --whole-archive libx.a
//# warning: libx\.a\(one\.so\): is a shared object
//# warning: libx\.a\(start\): is an executable
.globl _start
_start: call one
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
//--- start.s
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
