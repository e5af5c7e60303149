//# about: no inputs at all, and only options
//# fail: --gc-sections
//# error: no input files
//# fail: -L. -o x
//# error: no input files
.section .note.GNU-stack,"",@progbits
