//# about: f@@@V: as @@ where defined
//# link: -shared symver-three.o --version-script=v.map
//# dynsym: f@@V1
//# no-dynsym: f_impl
.globl f_impl
.symver f_impl, f@@@V1
f_impl: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: f; local: *; };
