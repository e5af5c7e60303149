//# about: -Bsymbolic and its kinds bind references to own definitions
//# matrix: how=Bsymbolic,Bsymbolic-functions,Bsymbolic-non-weak-functions,Bno-symbolic
//# [how=Bsymbolic-non-weak-functions] not: bfd mold -- no such option
//# link: -shared bsymbolic.o -{how}
//# [how=Bsymbolic] no-reloc: JUMP_SLOT
//# [how=Bsymbolic] no-reloc: GLOB_DAT
//# [how=Bsymbolic !mold] dynamic: FLAGS SYMBOLIC
//# [how=Bsymbolic-functions] no-reloc: JUMP_SLOT
//# [how=Bsymbolic-functions] reloc: GLOB_DAT sym=data
//# [how=Bsymbolic-non-weak-functions] no-reloc: JUMP_SLOT sym=func
//# [how=Bsymbolic-non-weak-functions] reloc: JUMP_SLOT sym=weak_func
//# [how=Bno-symbolic] reloc: JUMP_SLOT sym=func
//# [how=Bno-symbolic] reloc: GLOB_DAT sym=data
.globl func, data
.weak weak_func
.type func, @function
.type weak_func, @function
.type data, @object
func: call func@PLT
  call weak_func@PLT
  mov data@GOTPCREL(%rip), %rax
weak_func: ret
.data
data: .quad 1
.section .note.GNU-stack,"",@progbits
