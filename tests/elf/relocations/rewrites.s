//# about: what options have changed of code: marks that nobody needs, branches to branches, padding of calls
//# only: weld -- each is another linker's
//# link: rewrites.o more.o -z rewrite-endbr -o unmarked
//# disasm: called => nopl
//# disasm: taken => endbr64
//# disasm: pointed => endbr64
//# disasm: near => endbr64
//# disasm: slotted => endbr64
//# disasm: _start => endbr64
//# link: rewrites.o more.o -z rewrite-endbr -z norewrite-endbr -o marked
//# disasm: called => endbr64
//# link: rewrites.o more.o -z rewrite-endbr -shared -Bsymbolic -o exported.so
//# disasm: called => endbr64
//# link: rewrites.o more.o -z rewrite-endbr -u called -o wanted
//# disasm: called => endbr64
//# link: rewrites.o more.o --branch-to-branch -o short
//# disasm: jumps => call.*<last>
//# disasm: jumps => je.*<last>
//# disasm: jumps => call.*<(round|about)>
//# disasm: first => jmp.*<last>
//# link: rewrites.o more.o --branch-to-branch --gc-sections --icf=all -o less
//# disasm: jumps => call.*<last>
//# link: rewrites.o more.o --branch-to-branch --no-branch-to-branch -o long
//# disasm: jumps => call.*<first>
//# link: rewrites.o more.o -z call-nop=suffix-nop -o suffix
//# bytes: sym(padded) = e8 ?? ?? ?? ?? 90 c3
//# check: sym(padded) + 5 + s32(sym(padded) + 1) == sym(slotted)
//# link: rewrites.o more.o -z call-nop=prefix-0x2e -o prefix
//# bytes: sym(padded) = 2e e8 ?? ?? ?? ?? c3
//# link: rewrites.o more.o -o usual
//# bytes: sym(padded) = 67 e8 ?? ?? ?? ?? c3
//# fail: rewrites.o more.o -z call-nop=middle
//# error: 'middle' is no padding
//# fail: rewrites.o more.o --branch-to-branch -q
//# error: --branch-to-branch and --emit-relocs cannot be used together
//# fail: -r rewrites.o --branch-to-branch
//# error: --branch-to-branch is not supported with -r
.globl _start, taken, near, jumps, first, second, last, round, about, padded
.type taken, @function
.type near, @function
_start: endbr64
call called
call jumps
call padded
lea taken(%rip), %rax
lea .Lnear(%rip), %rax
ret
taken: endbr64
ret
near: .Lnear: endbr64
ret
.section .text.jumps,"ax"
jumps: call first
je first
call round
ret
.section .text.first,"ax"
first: jmp second
.section .text.second,"ax"
second: endbr64
jmp last
.section .text.last,"ax"
last: ret
.section .text.round,"ax"
round: jmp about
.section .text.about,"ax"
about: jmp round
.section .text.padded,"ax"
padded: call *slotted@GOTPCREL(%rip)
ret
.data
.quad pointed
.section .note.GNU-stack,"",@progbits
//--- more.s
.globl called, pointed, slotted
.type called, @function
.type pointed, @function
.type slotted, @function
called: .cfi_startproc
endbr64
ret
.cfi_endproc
pointed: endbr64
ret
slotted: endbr64
ret
.section .note.GNU-stack,"",@progbits
