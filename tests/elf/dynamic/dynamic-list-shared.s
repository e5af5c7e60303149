//# about: --dynamic-list of a shared object: what is not named binds within it
//# link: -shared dynamic-list-shared.o --dynamic-list=list
//# reloc: JUMP_SLOT sym=named
//# no-reloc: JUMP_SLOT sym=other
//# dynsym: other
//# not: mold -- 1.10 does not bind the others
.globl named, other, f
named: ret
other: ret
f: call named@PLT
  call other@PLT
.section .note.GNU-stack,"",@progbits
//--- list
{ named; };
