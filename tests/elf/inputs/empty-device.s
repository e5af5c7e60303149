//# about: /dev/null is an input without contents
//# not: mold -- it knows no such file
//# link: empty-device.o /dev/null
//# symbol: _start
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
