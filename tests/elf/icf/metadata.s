//# about: what is ordered by a folded section goes with it; maps, kept relocations and RELR agree
//# link: -shared metadata.o --icf=all --ignore-data-address-equality -Map=map -q -Bsymbolic -z pack-relative-relocs -o m.so
//# check: sym(f) == sym(g)
//# check: size(metadata) == 16
//# check: size(.data.rel.ro) == 16
//# check: u64(addr(metadata)) == 1
//# [weld] file: map => \.text\.f\)\n.* f\n.* g\n
//# file-not: map => \.text\.g\)
//# reloc: R_X86_64_64 in=.rela.data.rel.ro count=2
//# reloc: R_X86_64_PC32 in=.rela.text count=4
//# link: -shared metadata.o --icf=all --gc-sections -o gc.so
//# check: sym(f) == sym(g)
.globl user
.section .text.user,"ax",@progbits
user:
  call f
  call g
  lea relro(%rip), %rax
  lea relro2(%rip), %rax
.section .text.f,"ax",@progbits
.hidden f, g
f: nop
  ret
.section .text.g,"ax",@progbits
g: nop
  ret
.section metadata,"ao",@progbits,.text.f
  .quad 1, 2
.section metadata,"ao",@progbits,.text.g
  .quad 3, 4
.section .data.rel.ro.1,"aw",@progbits
.hidden relro
relro: .quad f, g
.section .data.rel.ro.2,"aw",@progbits
.hidden relro2
relro2: .quad g, f
.section .note.GNU-stack,"",@progbits
