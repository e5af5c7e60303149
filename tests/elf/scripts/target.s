//# about: TARGET is the format of the inputs that a script names behind it
//# not: mold -- it does not know it
//# obj: more.o = more.s
//# link: target.o x.ld
//# symbol: _binary_data_txt_start
//# symbol: more
//# check: u8(sym(_binary_data_txt_start)) == 0x68
//# [weld] fail: target.o other.ld
//# [weld] error: other\.ld: is for elf32-i386
.globl _start
_start: ret
.data
.quad _binary_data_txt_size, more
.section .note.GNU-stack,"",@progbits
//--- more.s
.globl more
more: ret
.section .note.GNU-stack,"",@progbits
//--- data.txt
hello
//--- x.ld
TARGET(binary) INPUT(data.txt) TARGET(elf64-x86-64) INPUT(more.o)
//--- other.ld
TARGET(elf32-i386)
