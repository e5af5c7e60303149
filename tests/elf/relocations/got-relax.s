//# about: GOTPCRELX and REX_GOTPCRELX: loads become lea or immediates, calls and jumps direct, tests and arithmetic immediate

//# not: mold -- 1.10 relaxes fewer forms
//# obj: main.o = got-relax.s @clang
//# link: main.o
//# [!lld] no-section: .got
//# [!bfd] check: sym(f) + 7 + s32(sym(f) + 3) == sym(data)
//# [!bfd] bytes: sym(f) = 48 8d 05
//# [!bfd] bytes: sym(f2) = 4c 8d 3d
//# [!bfd] bytes: sym(m32) = 8d 05
//# bytes: sym(call) = 67 e8
//# check: sym(call) + 6 + s32(sym(call) + 2) == sym(callee)
//# bytes: sym(jump) = e9
//# check: sym(jump) + 5 + s32(sym(jump) + 1) == sym(callee)
//# bytes: sym(jump) + 5 = 90
//# bytes: sym(test) = 48 f7 c0
//# check: u32(sym(test) + 3) == sym(data)
//# bytes: sym(test12) = 49 f7 c4
//# bytes: sym(cmp) = 48 81 f9
//# check: u32(sym(cmp) + 3) == sym(data)
//# bytes: sym(add) = 49 81 c0
//# bytes: sym(adc) = 48 81 d2
//# bytes: sym(and) = 48 81 e3
//# bytes: sym(or) = 48 81 cf
//# bytes: sym(sbb) = 48 81 de
//# bytes: sym(sub) = 48 81 ed
//# bytes: sym(xor) = 48 81 f4
.globl _start, data, callee
_start:
f: movq data@GOTPCREL(%rip), %rax
f2: movq data@GOTPCREL(%rip), %r15
m32: movl data@GOTPCREL(%rip), %eax
call: call *callee@GOTPCREL(%rip)
jump: jmp *callee@GOTPCREL(%rip)
test: testq %rax, data@GOTPCREL(%rip)
test12: testq %r12, data@GOTPCREL(%rip)
cmp: cmpq data@GOTPCREL(%rip), %rcx
add: addq data@GOTPCREL(%rip), %r8
adc: adcq data@GOTPCREL(%rip), %rdx
and: andq data@GOTPCREL(%rip), %rbx
or: orq data@GOTPCREL(%rip), %rdi
sbb: sbbq data@GOTPCREL(%rip), %rsi
sub: subq data@GOTPCREL(%rip), %rbp
xor: xorq data@GOTPCREL(%rip), %rsp
callee: ret
.data
data: .quad 1
.section .note.GNU-stack,"",@progbits
