//# about: the addend of dynamic relocations is in .rela.dyn; --apply-dynamic-relocs also stores it in place
//# only: weld lld -- others have no such option
//# link: -shared apply-dynamic-relocs.o
//# check: u64(sym(w)) == 0
//# link: -shared apply-dynamic-relocs.o --apply-dynamic-relocs
//# check: u64(sym(w)) == sym(target)
.data
w: .quad target
target: .quad 0
.section .note.GNU-stack,"",@progbits
