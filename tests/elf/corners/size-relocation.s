//# about: R_X86_64_SIZE64 of a symbol of another module is the loader's business
//# not: mold -- it takes the size of today
//# link: -shared lib.o -o lib.so
//# link: size-relocation.o lib.so
//# reloc: SIZE64 sym=variable addend=1
//# check: u64(sym(own)) == 12
.globl _start, own
_start: ret
.data
.quad variable@SIZE+1
own: .quad mine@SIZE
mine: .zero 12
.size mine, 12
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl variable
.data
.type variable, @object
.size variable, 40
variable: .zero 40
.section .note.GNU-stack,"",@progbits
