//# about: sections that are gone say nothing of the rights and the type of the section that they would have been in
//# not: mold -- it reads no SECTIONS
//# link: dead-rights.o -T x.ld --gc-sections -e _start
//# section: .text type=PROGBITS flags=AX
//# section: .zeroes type=NOBITS flags=WA
//# section: .strings flags=AMS entsize=1
//# readelf: -lW => LOAD .* R E
//# [!bfd] link: dead-rights.o --gc-sections -e _start -o plain
//# [!bfd] section: .alike flags=A
.globl _start
.text
_start: lea zero(%rip), %rax; lea text(%rip), %rax; lea alike(%rip), %rax; ret
.section .foo,"aw"; .quad 1
.section .zero,"aw",@nobits; zero: .quad 0
.section .full,"aw"; .quad 1
.section .text1,"aMS",@progbits,1; text: .asciz "a"
.section .text2,"a"; .asciz "b"
.section .alike,"a"; alike: .quad 1
.section .alike,"aw",unique,1; .quad 1
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.foo .text) }
  . = 0x20000;
  .zeroes : { *(.zero .full) }
  .strings : { *(.text2 .text1) }
  .alike : { *(.alike) }
}
