//# about: -z start-stop-gc lets sections with C names go although __start_ is used
//# only: weld lld -- others have no such option
//# link: start-stop.o --gc-sections -z start-stop-gc
//# no-symbol: in_set
//# link: start-stop.o --gc-sections -z nostart-stop-gc
//# symbol: in_set
.globl _start
.weak __start_set
_start: lea __start_set(%rip), %rax
.section set,"aw",@progbits
in_set: .quad 1
.section .note.GNU-stack,"",@progbits
