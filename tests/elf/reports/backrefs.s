//# about: --warn-backrefs: members that a linker which reads archives once would not take
//# only: weld lld -- others have no such option
//# sh: ar rcs liba.a a.o && ar rcs libb.a b.o && ar rcs libother.a a.o
//# link: backrefs.o liba.a libb.a --warn-backrefs
//# warning: backward reference.*liba\.a
//# link: backrefs.o libb.a liba.a --warn-backrefs
//# link: backrefs.o --start-group liba.a libb.a --end-group --warn-backrefs
//# link: backrefs.o liba.a libb.a libother.a --warn-backrefs
//# link: backrefs.o liba.a libb.a --warn-backrefs --warn-backrefs-exclude=*liba.a
//# link: backrefs.o liba.a libb.a --warn-backrefs --no-warn-backrefs
//# link: liba.a libb.a backrefs.o -u a -u b --warn-backrefs
//# link: liba.a libb.a backrefs.o libb.a liba.a --warn-backrefs
//# sh: echo 'GROUP(liba.a libb.a backrefs.o)' > group.t && echo 'INPUT(liba.a libb.a backrefs.o)' > input.t
//# link: group.t --warn-backrefs
//# link: input.t --warn-backrefs
//# warning: backward reference.*liba\.a
//# warning: backward reference.*libb\.a
//# link: --start-lib a.o --end-lib backrefs.o b.o --warn-backrefs
//# warning: backward reference.*a\.o
.globl _start
_start: call b
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl a
a: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl b
b: call a
.section .note.GNU-stack,"",@progbits
