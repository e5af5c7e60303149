//# about: LoongArch with 32 bits: lower halves of what labels name, slots that are not needed, calls, and thread-local storage, relaxed and not
//# not: bfd mold -- those that are installed are for this machine's programs
//# obj: loongarch32-halves.o = loongarch32-halves.s @clang --target=loongarch32-unknown-linux-gnu -mrelax
//# link: --no-relax -z separate-code --section-start=.data=0x40ff0 loongarch32-halves.o
//# check: symsize(_start) == 56
// The distance of 0x20ff0 is 0x21000 less 0x10.
//# disasm: _start => pcaddu12i \$a0, 33\naddi.w \$a0, \$a0, -16\n
// Nobody fills descriptors.
//# [weld] disasm: _start => lu12i.w \$a0, 0\nori \$a0, \$zero, 4\nnop\nnop\npcaddu12i \$ra, 0\njirl \$ra, \$ra, 16
//# [weld] link: -z separate-code --section-start=.data=0x40ff0 loongarch32-halves.o
//# check: symsize(_start) == 36
//# disasm: _start => pcaddi \$a0, 33788\npcaddi \$a1, 33787\npcaddu12i \$a0, .*\naddi.w \$a0, .*\nlu12i.w \$a0, 0\nori \$a0, \$zero, 4\nbl 12 <f>
// Out of reach of one instruction, in an image of more than 2 GiB.
//# [weld] link: -z separate-code --section-start=.data=0x80000000 loongarch32-halves.o
//# disasm: _start => pcaddu12i \$a0, 524256\naddi.w \$a0, \$a0, 0\npcaddu12i \$a1, 16\nld.w \$a1, \$a1, 0
//# link: -shared loongarch32-halves.o -o library.so
//# reloc: TLS_DESC32 count=1
//# reloc: TLS_DTPMOD32 count=1
// Loaders fill in words, and no parts of instructions.
//# sh: llvm-mc-22 --triple=loongarch32 -filetype=obj slots.txt -o slots.o
//# [weld] sh-fail: $LD -shared -z notext slots.o -o slots.so
//# [weld] stderr-re: slots.o:\(.text\+0x0\): R_LARCH_TLS_IE_HI20 cannot be used against symbol 'x' with -shared
.globl _start
.type _start, @function
_start:
    la.pcrel $a0, word
    la.got $a1, word
    la.tls.gd $a0, variable
    la.tls.desc $a0, variable
    call30 f
    move $a0, $zero
    ret
.size _start, . - _start
.hidden f
.globl f
.type f, @function
f: ret
.data
.hidden word
.globl word
word: .word 1
.section .tdata,"awT"
.word 0
variable: .word 1
//--- slots.txt
 .globl f, x
f: lu12i.w $a0, %ie_hi20(x)
 ori $a0, $a0, %ie_lo12(x)
 ret
 .section .tdata, "awT", @progbits
x: .word 1
