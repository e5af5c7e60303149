//# about: as GNU ld, without being asked: a definition that is less aligned than a common symbol of its name, or of another size
//# only: weld -- its own words
//# link: common-differs.o defs.o -e 0
//# warning: (?s)definition of aligned is less aligned .*\(4 for 64\)\n>>> common in common-differs\.o, 8 bytes, alignment 64\n>>> defined at defs\.o:\(\.data\+0x4\), 8 bytes, alignment 4\n.*definition of large has another size .*\(4 for 8\)
//# link: -r defs.o common-differs.o -o r.o
//# warning: (?s)definition of aligned is less aligned.*definition of large has another size
//# sh: ln -s $LD ld.lld && ./ld.lld common-differs.o defs.o -e 0 -o lld
//# stderr-not: .
//# link: same.o defs.o -e 0 -o same
//# check: sym(large) == sym(aligned) + 8
.comm aligned, 8, 64
.comm large, 8, 4
.section .note.GNU-stack,"",@progbits
//--- same.s
.comm aligned, 8, 4
.comm large, 4, 4
.section .note.GNU-stack,"",@progbits
//--- defs.s
.data
.globl aligned, large
.p2align 2
.long 0
.size aligned, 8
aligned: .quad 1
.size large, 4
large: .long 2
.section .note.GNU-stack,"",@progbits
