//# about: -u takes a member out of an archive and keeps it through --gc-sections
//# sh: ar rcs libx.a member.o
//# link: undefined-option.o libx.a -u pulled --gc-sections
//# symbol: pulled section=.text
//# link: undefined-option.o libx.a --undefined=pulled
//# symbol: pulled section=.text
//# link: undefined-option.o libx.a
//# no-symbol: pulled
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl pulled
pulled: ret
.section .note.GNU-stack,"",@progbits
