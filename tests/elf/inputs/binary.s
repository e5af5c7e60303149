//# about: -b binary makes data of a file, with symbols around it, also with -r; -b elf64-x86-64 and default switch back
//# not: mold -- it has no such inputs
//# sh: mkdir -p sub && printf 'hello' > sub/da-ta.bin && printf '\177ELF' > elf.bin && : > empty.bin
//# link: binary.o -b binary sub/da-ta.bin elf.bin empty.bin -b elf64-x86-64 other.o
//# symbol: _binary_sub_da_ta_bin_start section=.data bind=GLOBAL
//# symbol: _binary_sub_da_ta_bin_size section=ABS value=5
//# check: sym(_binary_sub_da_ta_bin_end) == sym(_binary_sub_da_ta_bin_start) + 5
//# check: u8(sym(_binary_sub_da_ta_bin_start) + 4) == 0x6f
//# check: sym(_binary_elf_bin_end) == sym(_binary_elf_bin_start) + 4
//# check: sym(_binary_empty_bin_end) == sym(_binary_empty_bin_start)
//# check: u64(sym(words)) == sym(_binary_sub_da_ta_bin_start)
//# symbol: other
//# link: --format=binary sub/da-ta.bin --format default binary.o --push-state other.o --pop-state
//# link: -m elf_x86_64 -r -b binary sub/da-ta.bin -o data.o
//# contains: .data = hello
//# symbol: _binary_sub_da_ta_bin_size section=ABS value=5
//# link: binary.o data.o other.o
//# check: u64(sym(words)) == sym(_binary_sub_da_ta_bin_start)
//# [weld|lld] link: binary.o -b binary sub/da-ta.bin -b elf other.o
//# [weld] link: binary.o other.o -L sub -b binary -l:da-ta.bin
//# obj: other.o = other.s
//# fail: binary.o -b nosuch
//# error: nosuch
.globl _start, words
_start: ret
.data
words: .quad _binary_sub_da_ta_bin_start
.section .note.GNU-stack,"",@progbits
//--- other.s
.globl other
other: ret
.section .note.GNU-stack,"",@progbits
