//# about: --defsym takes over the type, and a thread-local symbol's offset; the GOT's base exists when it is named
//# only: weld lld -- the others know no types here
//# link: -shared internal-types.o --defsym=function2=function --defsym=variable2=variable
//# dynsym: function2 type=FUNC
//# dynsym: variable2 type=TLS value=8
//# check: addr(.got.plt) > 0
.globl function, variable, base
.type function, @function
function: ret
.section .tbss,"awT",@nobits
.zero 8
.type variable, @object
variable: .zero 4
.data
base: .quad _GLOBAL_OFFSET_TABLE_
.section .note.GNU-stack,"",@progbits
