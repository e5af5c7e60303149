//# about: a section that SHF_LINK_ORDER links to itself is linked to nothing
//# not: mold -- it goes round in circles
//# link: link-order-self.o
//# section: .own flags=AL
//# link: link-order-self.o --gc-sections -o collected
//# no-section: .own
.globl _start
_start: ret
.section .own,"ao",@progbits,.own
.quad 1
.section .note.GNU-stack,"",@progbits
