//# about: the names of libraries that an object asks for have to end
//# not: bfd mold -- they do neither
//# obj: a.o = a.s @clang
//# fail: a.o
//# error: a\.o:\(\.deplibs\): last name of a library is not terminated|unterminated string
//--- a.s
.globl _start
_start: ret
.section .deplibs,"MS",@llvm_dependent_libraries,1
.ascii "m"
.section .note.GNU-stack,"",@progbits
