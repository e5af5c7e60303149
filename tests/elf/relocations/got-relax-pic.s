//# about: GOTPCRELX in position-independent output: loads and calls relax, immediates cannot
//# not: mold -- 1.10 relaxes fewer forms
//# matrix: kind=pie,shared
//# [kind=pie] link: -pie got-relax-pic.o
//# [kind=shared] link: -shared got-relax-pic.o
//# bytes: sym(f) = 48 8d 05
//# bytes: sym(call) = 67 e8
//# bytes: sym(jump) = e9
//# bytes: sym(test) = 48 85 05
//# bytes: sym(add) = 48 03 05
//# reloc: RELATIVE count=1
//# check: sym(test) + 7 + s32(sym(test) + 3) == sym(add) + 7 + s32(sym(add) + 3)
.hidden data, callee
.globl _start, data, callee
_start:
f: movq data@GOTPCREL(%rip), %rax
call: call *callee@GOTPCREL(%rip)
jump: jmp *callee@GOTPCREL(%rip)
test: testq %rax, data@GOTPCREL(%rip)
add: addq data@GOTPCREL(%rip), %rax
callee: ret
.data
data: .quad 1
.section .note.GNU-stack,"",@progbits
