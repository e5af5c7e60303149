//# about: -r joins .eh_frame without terminators and padding between records, and every linker finds all of them
//# not: lld mold -- lld stops at the first terminator, mold 1.10 makes files that do not verify
//# link: -r frames.o two.o three.o -o r.o
//# check: count(.eh_frame) == 1
//# [weld] check: size(.eh_frame) == 3 * 40 + 4
//# link: --eh-frame-hdr r.o -o out
//# check: nfdes == 3
//# check: ncies == 1
//# sh: ld.lld-22 --eh-frame-hdr r.o -o lld && llvm-dwarfdump-22 --eh-frame lld | grep -c ' FDE ' | grep -x 3
//# sh: ld.bfd --eh-frame-hdr r.o -o bfd && llvm-dwarfdump-22 --eh-frame bfd | grep -c ' FDE ' | grep -x 3
.text
.globl _start
_start: ret
.section .eh_frame,"a",@progbits
.p2align 3
1: .long 3f-2f
2: .long 0
.byte 1
.asciz "zR"
.uleb128 1
.sleb128 -8
.byte 16
.uleb128 1
.byte 0x1b
.byte 0, 0, 0
3: .long 5f-4f
4: .long 4b-1b
.long _start-.
.long 1
.uleb128 0
.byte 0, 0, 0
5: .long 0
.section .note.GNU-stack,"",@progbits
//--- two.s
.text
f: ret
.section .eh_frame,"a",@progbits
.p2align 3
1: .long 3f-2f
2: .long 0
.byte 1
.asciz "zR"
.uleb128 1
.sleb128 -8
.byte 16
.uleb128 1
.byte 0x1b
.byte 0, 0, 0
3: .long 5f-4f
4: .long 4b-1b
.long f-.
.long 1
.uleb128 0
.byte 0, 0, 0
5: .long 0
.section .note.GNU-stack,"",@progbits
//--- three.s
.text
g: ret
.section .eh_frame,"a",@progbits
.p2align 3
1: .long 3f-2f
2: .long 0
.byte 1
.asciz "zR"
.uleb128 1
.sleb128 -8
.byte 16
.uleb128 1
.byte 0x1b
.byte 0, 0, 0
3: .long 5f-4f
4: .long 4b-1b
.long g-.
.long 1
.uleb128 0
.byte 0, 0, 0
5: .long 0
.section .note.GNU-stack,"",@progbits
