//# about: RISC-V: __bss_start is in front of small data without contents, which start code has to clear, too
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-small-zeroes.o = riscv-small-zeroes.s @clang
//# link: riscv-small-zeroes.o
//# check: sym(__bss_start) == addr(.sbss)
//# check: addr(.sbss) < addr(.bss)
//# symbol: __bss_start section=.sbss
//# symbol: _end section=.bss
.globl _start
_start: ret
.section .sdata,"aw"
.quad __bss_start, _end
.section .sbss,"aw",@nobits
.zero 16
.bss
.zero 8
.section .note.GNU-stack,"",@progbits
