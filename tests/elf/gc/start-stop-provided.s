//# about: a script that PROVIDEs __start_X itself: whoever asks for it keeps X under --gc-sections
//# link: start-stop-provided.o --gc-sections -T provided.ld
//# symbol: in_set
//# no-symbol: in_other
.globl _start
_start: lea __start_set(%rip), %rax
.section set,"aw",@progbits
in_set: .quad 1
.section other,"aw",@progbits
in_other: .quad 2
.section .note.GNU-stack,"",@progbits
//--- provided.ld
ENTRY(_start)
SECTIONS {
  .text : { *(.text) }
  PROVIDE(__start_set = .);
  set : { *(set) }
  PROVIDE(__stop_set = .);
  PROVIDE(__start_other = .);
  other : { *(other) }
}
