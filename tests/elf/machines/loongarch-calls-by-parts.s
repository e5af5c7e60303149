//# about: LoongArch: a library calls what another module may define by the page and the lower bits of its address, as in glibc's libc_nonshared.a
//# not: bfd mold -- those that are installed are for this machine's programs
//# matrix: bits=64,32
//# obj: loongarch-calls-by-parts.o = loongarch-calls-by-parts.s @clang --target=loongarch{bits}-unknown-linux-gnu
//# link: -m elf{bits}loongarch -shared --section-start=.plt=0x234000 --section-start=.text=0x432000 loongarch-calls-by-parts.o -o library.so
//# reloc: JUMP_SLOT sym=elsewhere count=1
//# reloc: JUMP_SLOT sym=here count=1
//# reloc: R_LARCH_{bits} count=0
// The entries of the PLT follow its header of 32 bytes. What nobody else may define is called where it is.
//# disasm: here => pcalau12i \$t0, -510\njirl \$ra, \$t0, 48\n
//# disasm: here => pcalau12i \$t1, -510\nnop\nnop\njirl \$zero, \$t1, 32\n
//# disasm: here => pcalau12i \$t2, 0\njirl \$ra, \$t2, 40
// Whatever else is done with such an address cannot be told to a loader.
//# sh: llvm-mc-22 --triple=loongarch{bits} -filetype=obj loads.txt -o loads.o; llvm-mc-22 --triple=loongarch{bits} -filetype=obj both.txt -o both.o; llvm-mc-22 --triple=loongarch{bits} -filetype=obj behind.txt -o behind.o; llvm-mc-22 --triple=loongarch{bits} -filetype=obj register.txt -o register.o; llvm-mc-22 --triple=loongarch{bits} -filetype=obj far.txt -o far.o
//# [weld] sh-fail: $LD -m elf{bits}loongarch -shared loads.o -o library.so
//# [weld] stderr-re: loads.o:\(.text\+0x4\): R_LARCH_PCALA_LO12 cannot be used against symbol 'elsewhere'
//# [weld] sh-fail: $LD -m elf{bits}loongarch -shared both.o -o library.so
//# [weld] stderr-re: both.o:\(.text\+0x8\): R_LARCH_PCALA_LO12 cannot be used against symbol 'elsewhere'
//# [weld] sh-fail: $LD -m elf{bits}loongarch -shared behind.o -o library.so
//# [weld] stderr-re: behind.o:\(.text\+0x4\): R_LARCH_PCALA_LO12 cannot be used against symbol 'elsewhere'
//# [weld] sh-fail: $LD -m elf{bits}loongarch -shared register.o -o library.so
//# [weld] stderr-re: register.o:\(.text\+0x0\): R_LARCH_PCALA_HI20 cannot be used against symbol 'elsewhere'
// The other part is looked for among the next 32 relocations.
//# [weld] sh-fail: $LD -m elf{bits}loongarch -shared far.o -o library.so
//# [weld] stderr-re: far.o:\(.text\+0x0\): R_LARCH_PCALA_HI20 cannot be used against symbol 'elsewhere'
.globl here
here:
    pcalau12i $t0, %pc_hi20(elsewhere)
    jirl $ra, $t0, %pc_lo12(elsewhere)
    pcalau12i $t1, %pc_hi20(here)
    nop
    nop
    jirl $zero, $t1, %pc_lo12(here)
    pcalau12i $t2, %pc_hi20(own)
    jirl $ra, $t2, %pc_lo12(own)
    nop
    nop
own:
    ret
//--- loads.txt
    pcalau12i $t0, %pc_hi20(elsewhere)
    ld.w $t0, $t0, %pc_lo12(elsewhere)
//--- both.txt
    pcalau12i $t0, %pc_hi20(elsewhere)
    jirl $ra, $t0, %pc_lo12(elsewhere)
    addi.w $t0, $t0, %pc_lo12(elsewhere)
//--- behind.txt
    pcalau12i $t0, %pc_hi20(elsewhere+4)
    jirl $ra, $t0, %pc_lo12(elsewhere+4)
//--- register.txt
    pcalau12i $t0, %pc_hi20(elsewhere)
    jirl $ra, $t1, %pc_lo12(elsewhere)
//--- far.txt
    pcalau12i $t0, %pc_hi20(elsewhere)
.rept 32
    bl elsewhere
.endr
    jirl $ra, $t0, %pc_lo12(elsewhere)
