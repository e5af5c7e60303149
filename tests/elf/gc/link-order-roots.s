//# about: what is linked to code (SHF_LINK_ORDER) goes with it, also if it is of a kind that stays by itself
//# not: bfd mold -- they do neither
//# matrix: case=array,retained
//# [case=array] obj: a.o = a.s --defsym ARRAY=1
//# [case=array] link: --gc-sections --print-gc-sections a.o -o out
//# [case=array] stdout-re: \(\.init_array\.dead\)
//# [case=array] stdout-not: \(\.init_array\.live\)
//# [case=array] section: .init_array size=8
//# [case=retained] obj: a.o = a.s --defsym RETAINED=1
//# [case=retained] fail: --gc-sections a.o
//# [case=retained] error: a\.o:\(\.told\).*(sh_link.*\.dead|discarded section)
//--- a.s
.globl _start
.section .text.live,"ax",@progbits
_start: ret
.section .text.dead,"ax",@progbits
dead: ret
.ifdef ARRAY
.section .init_array.live,"awo",@init_array,.text.live
.quad 0
.section .init_array.dead,"awo",@init_array,.text.dead
.quad 0
.endif
.ifdef RETAINED
.section .told,"oR",@progbits,.text.dead
.quad 1
.endif
.section .note.GNU-stack,"",@progbits
