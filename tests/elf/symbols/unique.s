//# about: STB_GNU_UNIQUE stays so in a shared object, and may be another module's whatever -Bsymbolic says
//# not: lld -- it makes them global
//# link: -shared unique.o
//# dynsym: u bind=UNIQUE
//# link: -shared -Bsymbolic unique.o -o symbolic
//# [!mold] reloc: GLOB_DAT sym=u
//# no-reloc: GLOB_DAT sym=plain
.globl get
get: mov u@GOTPCREL(%rip), %rax
  mov plain@GOTPCREL(%rip), %rdx
  ret
.data
.globl u, plain
.type u, @gnu_unique_object
.size u, 4
u: .long 1
.type plain, @object
.size plain, 4
plain: .long 1
.section .note.GNU-stack,"",@progbits
