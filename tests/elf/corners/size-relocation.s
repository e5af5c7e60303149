//# about: the size of a variable of another module is the loader's business, but in a program's read-only sections
//# not: mold -- it takes the size of today
//# link: -shared lib.o -o lib.so
//# link: size-relocation.o lib.so
//# reloc: SIZE64 sym=variable addend=1
//# [!bfd] reloc: SIZE32 sym=variable addend=-1
//# check: u64(sym(own)) == 12
//# [weld] link: read-only.o lib.so -o read-only
//# [weld] no-reloc: SIZE32
//# [weld] check: u32(sym(code) + 1) == 39
//# [weld] link: -pie read-only.o lib.so -o pie
//# [weld] check: u32(sym(code) + 1) == 39
//# fail: -shared read-only.o lib.so
//# error: SIZE32|text
.globl _start, own
_start: ret
.data
.quad variable@SIZE+1
own: .quad mine@SIZE
.reloc ., R_X86_64_SIZE32, variable-1
.long 0
mine: .zero 12
.size mine, 12
.section .note.GNU-stack,"",@progbits
//--- read-only.s
.globl _start, code
_start: ret
code: mov $variable@SIZE-1, %eax
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl variable
.data
.type variable, @object
.size variable, 40
variable: .zero 40
.section .note.GNU-stack,"",@progbits
