//# about: what OpenBSD's loader and kernel look for has program headers of its own: PT_OPENBSD_MUTABLE, RANDOMIZE, WXNEEDED, \
//#   NOBTCFI and SYSCALLS, which have the types 0x65a3dbe5 to 0x65a3dbe9
//# only: weld lld -- the others know less of OpenBSD
//# sh: printf '\014' | dd of=openbsd.o bs=1 seek=7 conv=notrunc status=none
//# link: openbsd.o -z wxneeded -z nobtcfi
//# segment: 0x65a3dbe6 count=1 memsz=24
//# check: seg(0x65a3dbe6) == addr(.openbsd.randomdata)
//# segment: 0x65a3dbe5 count=1 flags=RW memsz=16
//# check: seg(0x65a3dbe5) == addr(.openbsd.mutable)
//# segment: 0x65a3dbe9 count=1 flags=R memsz=8
//# check: seg(0x65a3dbe9) == addr(.openbsd.syscalls)
//# segment: 0x65a3dbe7 flags=X memsz=0
//# segment: 0x65a3dbe8 flags=X memsz=0
//# check: seg(GNU_RELRO) <= addr(.openbsd.randomdata)
//# check: segend(GNU_RELRO) >= end(.openbsd.randomdata)
// Other systems do not care for these names.
//# sh: printf '\000' | dd of=openbsd.o bs=1 seek=7 conv=notrunc status=none
//# link: openbsd.o
//# no-segment: 0x65a3dbe6
//# no-segment: 0x65a3dbe5
//# no-segment: 0x65a3dbe9
//# no-segment: 0x65a3dbe7
//# no-segment: 0x65a3dbe8
.globl _start
_start: ret
.section .openbsd.randomdata,"aw",@progbits
.quad 0, 0, 0
.section .openbsd.mutable,"aw",@progbits
.quad 1, 2
.section .openbsd.syscalls,"a",@progbits
.quad 3
.data
.quad 4
.section .note.GNU-stack,"",@progbits
