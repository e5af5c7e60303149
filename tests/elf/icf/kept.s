//# about: what is written to, run through or enumerated is not folded; data only if nobody compares its address
//# obj: kept.o = kept.s @clang
//# link: kept.o --icf=all
//# check: sym(data1) < sym(data2)
//# check: sym(zeroes1) < sym(zeroes2)
//# check: sym(item1) < sym(item2)
//# check: sym(init1) < sym(init2)
//# check: sym(free1) == sym(free2)
//# check: sym(relro1) == sym(relro2)
//# check: sym(compared1) != sym(compared2)
//# check: size(.init) == 2
//# section: items size=16
//# link: kept.o --icf=all --ignore-data-address-equality
//# check: sym(free1) == sym(free2) == sym(compared1) == sym(compared2)
//# check: sym(item1) < sym(item2)
//# check: sym(data1) < sym(data2)
//# sh: grep -v addrsig kept.s > no-table.s && $CC -c no-table.s -o no-table.o
//# link: no-table.o --icf=all
//# check: sym(free1) < sym(free2)
//# check: sym(relro1) < sym(relro2)
.globl _start
.section .text._start,"ax",@progbits
_start:
  ret
  .quad __start_items
.section .data.1,"aw",@progbits
data1: .quad 5
.section .data.2,"aw",@progbits
data2: .quad 5
.section .bss.1,"aw",@nobits
zeroes1: .zero 8
.section .bss.2,"aw",@nobits
zeroes2: .zero 8
.section items,"a",@progbits,unique,1
item1: .quad 5
.section items,"a",@progbits,unique,2
item2: .quad 5
.section .init,"ax",@progbits,unique,1
init1: nop
.section .init,"ax",@progbits,unique,2
init2: nop
.section .rodata.1,"a",@progbits
free1: .quad 5
.section .rodata.2,"a",@progbits
free2: .quad 5
.section .rodata.3,"a",@progbits
compared1: .quad 5
.section .rodata.4,"a",@progbits
compared2: .quad 5
.section .data.rel.ro.1,"aw",@progbits
relro1: .quad _start
.section .data.rel.ro.2,"aw",@progbits
relro2: .quad _start
.addrsig
.addrsig_sym compared1
.addrsig_sym compared2
.section .note.GNU-stack,"",@progbits
