//# about: --oformat=binary writes the image alone: sections by their addresses, zeroes between, nothing that has no bytes
//# not: mold -- 1.10 writes ELF headers
//# link: raw.o -N -Ttext=0x7c00 --oformat=binary -o boot.bin
//# no-verify: no ELF file
//# sh: od -An -tx1 -v boot.bin | tr -d ' \n'
//# stdout: b8047c000090909090
//# link: raw.o data.o -N -Ttext=0x7c00 --section-start=.far=0x7c10 --section-start=.low=0x7bfc --oformat binary -o two.bin
//# no-verify: no ELF file
//# sh: od -An -tx1 -v two.bin | tr -d ' \n'
//# stdout: 01020304b8047c0000909090900000000000000055137c000000000000
// Without -N segments lie on pages of their own, as in an ELF file; what lies between is a hole.
//# [weld|lld] link: raw.o more.o -Ttext=0x7c00 --oformat=binary --build-id -o paged.bin
//# no-verify: no ELF file
//# [weld|lld] sh: test $(stat -c %s paged.bin) -gt 4096 && od -An -tx1 -v -N 9 paged.bin | tr -d ' \n'
//# [weld|lld] stdout: b8047c000090909090
//# [weld] link: raw.o --section-start=.text=0x0 --section-start=.data=0x1000000 more.o --oformat=binary -o sparse.bin
//# no-verify: no ELF file
//# [weld] sh: stat -c %s sparse.bin
//# [weld] stdout: 16777224
//# [weld] fail: raw.o --section-start=.text=0x0 --section-start=.data=0x4000000000 more.o --oformat=binary
//# [weld] error: section \.data makes the file too large
//# [weld] fail: raw.o data.o -N -Ttext=0x7c00 --section-start=.far=0x7c04 --oformat=binary --no-check-sections
//# [weld] error: section \.text at \[0x7c00, 0x7c09\) overlaps \.far
//# fail: -r raw.o --oformat=binary
//# [weld] error: -r and --oformat=binary cannot be used together
//# [weld] fail: -q raw.o --oformat=binary
//# [weld] error: --emit-relocs and --oformat=binary cannot be used together
//# [weld] link: raw.o script.ld -N -Ttext=0x7c00 -o scripted.bin
//# [weld] no-verify: no ELF file
//# [weld] same: boot.bin scripted.bin
//# [weld] link: raw.o script.ld --oformat=elf64-x86-64 -o elf.out
//# [weld] check: sym(here) == sym(_start) + 4
//# [weld] fail: raw.o script.ld --emit-relocs
//# [weld] error: script\.ld: OUTPUT_FORMAT\(binary\) and --emit-relocs cannot be used together
//# [weld] fail: raw.o script.ld -r
//# [weld] error: script\.ld: OUTPUT_FORMAT\(binary\) and -r cannot be used together
//# [weld] link: raw.o -T elf.ld -N -Ttext=0x7c00 --oformat=binary -o again.bin
//# [weld] no-verify: no ELF file
//# [weld] same: boot.bin again.bin
.globl _start, here
_start: mov $here, %eax
here = . - 1
  nop; nop; nop; nop
.bss
.zero 100
.section .debug_info,"",@progbits
.quad 0
.section .note.GNU-stack,"",@progbits
//--- data.s
.section .far,"aw",@progbits
.byte 0x55
.quad . + 2
.section .low,"a",@progbits
.byte 1, 2, 3, 4
.section .note.GNU-stack,"",@progbits
//--- more.s
.data
.quad 1
.section .note.GNU-stack,"",@progbits
//--- script.ld
OUTPUT_FORMAT(binary)
//--- elf.ld
OUTPUT_FORMAT(elf64-x86-64)
