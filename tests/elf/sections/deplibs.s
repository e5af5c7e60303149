//# about: .deplibs adds libraries as if -l stood on the command line
//# not: mold bfd -- they ignore it
//# obj: deplibs.o = deplibs.s @clang
//# sh: mkdir lib && ar rcs lib/libx.a x.o
//# link: deplibs.o -Llib
//# symbol: x
//# fail: deplibs.o -Llib --no-dependent-libraries
//# error: undefined symbol: x
//# fail: deplibs.o
//# error: deplibs.o
//# no-section: .deplibs
.globl _start
_start: call x
.section ".deplibs","MS",@llvm_dependent_libraries,1
.asciz "x"
.section .note.GNU-stack,"",@progbits
//--- x.s
.globl x
x: ret
.section .note.GNU-stack,"",@progbits
