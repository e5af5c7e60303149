//# about: STB_GNU_UNIQUE stays so in a shared object
//# not: lld -- it makes them global
//# link: -shared unique.o
//# dynsym: u bind=UNIQUE
//# check: u8(7) >= 0
.data
.globl u
.type u, @gnu_unique_object
.size u, 4
u: .long 1
.section .note.GNU-stack,"",@progbits
