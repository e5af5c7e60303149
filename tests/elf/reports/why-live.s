//# about: --why-live says step by step what keeps a symbol
//# only: weld -- lld says it in other words
//# link: why-live.o --gc-sections --why-live=deep --why-live=dat* --why-live=start --why-live=note --why-live=dead -o out
//# stdout-re: (?s)deep stays: why-live\.o:\(\.text\.deep\)\n>>> referenced by why-live\.o:\(\.text\.mid\+0x\w+\)[^\n]*\n>>> referenced by why-live\.o:\(\.text\._start\+0x\w+\)[^\n]*\n>>> _start is the entry point\n
//# stdout-re: datum stays: why-live\.o:\(named\)\n>>> __start_named or __stop_named is asked for
//# stdout-re: start stays: why-live\.o:\(\.init_array\)\n>>> functions that section \.init_array names run
//# stdout-re: note stays: why-live\.o:\(\.kept\)\n>>> section \.kept asks to stay
//# stdout-not: dead
//# link: why-live.o --gc-sections -u dead --why-live=dead -o out
//# stdout-re: >>> an option or a script asks for dead
//# link: why-live.o --gc-sections -shared --why-live=dead -o out
//# stdout-re: >>> dead is exported
//# link: why-live.o --why-live=deep -o out
//# warning: --why-live has nothing to say without --gc-sections
//# fail: why-live.o --why-live=[ -o out
//# error: --why-live
.globl _start, dead
.section .text._start,"ax"
_start: call mid
lea __start_named(%rip), %rax
.section .text.mid,"ax"
mid: call deep
.section .text.deep,"ax"
deep: ret
.section .text.other,"ax"
other: ret
.section .text.dead,"ax"
dead: ret
.section named,"a"
datum: .byte 1
.section .init_array,"aw",@init_array
start: .quad other
.section .kept,"aR"
note: .byte 1
.section .note.GNU-stack,"",@progbits
