//# about: e_entry of an object counts from the section that the symbol lies in: kexec and the kernel start their purgatory (-r -e purgatory_start) there
//# link: -r entry.o
//# check: entry == 0
//# link: -r -e purgatory_start entry.o
//# check: entry == 0x10
//# link: -r -e cold entry.o
//# check: entry == 4
//# link: -r -e 0x20 entry.o
//# check: entry == 0x20
//# [weld|bfd] link: -r -T t.ld entry.o
//# [weld|bfd] check: entry == 4
//# [weld|bfd] link: -r -e missing entry.o
//# [weld|bfd] warning: cannot find entry symbol missing; not setting start address
//# [weld|bfd] check: entry == 0
.text
.fill 16, 1, 0x90
.globl purgatory_start, cold
purgatory_start: ret
.section .text.cold,"ax",@progbits
.fill 4, 1, 0x90
cold: ret
.section .note.GNU-stack,"",@progbits
//--- t.ld
ENTRY(cold)
SECTIONS { .text : { *(.text) } }
