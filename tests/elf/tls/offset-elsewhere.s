//# about: the offset of a variable in this module's thread-local storage cannot be that of another module's
//# link: -shared library.o -o liblibrary.so
//# [weld] fail: offset-elsewhere.o liblibrary.so
//# error: offset-elsewhere.o:\(.text\+0x3\): R_X86_64_DTPOFF32 is an offset in the thread-local storage of this output, but 'theirs' is another module's
//# [weld] fail: -shared offset-elsewhere.o
//# error: R_X86_64_DTPOFF32 is an offset in the thread-local storage of this output, but 'theirs' is another module's
//# link: offset-elsewhere.o library.o
.globl _start
_start:
    lea theirs@dtpoff(%rax), %rax
//--- library.s
.section .tdata,"awT",@progbits
.globl theirs
.type theirs,@object
.size theirs,8
theirs: .quad 5
