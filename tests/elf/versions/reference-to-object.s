//# about: a reference f@V1 is met by f@@V1 of another object; both names become one
//# not: mold -- it makes a PLT entry
//# link: -shared reference-to-object.o def.o --version-script=v.map -Bsymbolic
//# dynsym: f@@V1
//# no-dynsym: f@V1
//# no-reloc: R_X86_64_JUMP_SLOT
//# no-reloc: R_X86_64_GLOB_DAT
//# disasm: user => call.*<f
.globl user
.symver f_ref, f@V1
user: call f_ref
  ret
.section .note.GNU-stack,"",@progbits
//--- def.s
.globl f_impl
.symver f_impl, f@@V1
f_impl: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: f; user; local: *; };
