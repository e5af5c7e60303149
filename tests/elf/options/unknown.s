//# about: an option weld does not know is an error with a suggestion
//# fail: unknown.o --no-such-option
//# error: --no-such-option
//# [!bfd] fail: unknown.o --gc-section
//# [!bfd] error: --gc-section.*--gc-sections
//# [weld] fail: unknown.o --export-dynamic-symbol-l=x
//# [weld] error: --export-dynamic-symbol-l=x.*'--export-dynamic-symbol-list'
//# link: unknown.o -z no-such-keyword
//# warning: no-such-keyword
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
