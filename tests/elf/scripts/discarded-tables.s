//# about: a hash table that a script discards has no tag, so that no loader looks for it
//# only: weld lld -- the others make one table, or keep it
//# link: discarded-tables.o -shared --hash-style=both -T gnu.ld
//# no-dynamic: GNU_HASH
//# dynamic: HASH
//# no-section: .gnu.hash
//# link: discarded-tables.o -shared --hash-style=both -T sysv.ld
//# no-dynamic: HASH
//# dynamic: GNU_HASH
//# link: weak.o -shared -T symbols.ld -o symbols
//# no-section: .dynsym
//# reloc: R_X86_64_GLOB_DAT sym= count=1
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- weak.s
.weak f
mov f@GOTPCREL(%rip), %rax
.section .note.GNU-stack,"",@progbits
//--- symbols.ld
SECTIONS { /DISCARD/ : { *(.dynsym .dynstr .dynamic .hash .gnu.hash) } }
//--- gnu.ld
SECTIONS { /DISCARD/ : { *(.gnu.hash) } }
//--- sysv.ld
SECTIONS { /DISCARD/ : { *(.hash) } }
