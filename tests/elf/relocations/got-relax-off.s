//# about: --no-relax keeps the GOT; plain GOTPCREL and preemptible symbols never relax
//# matrix: how=norelax,plain,shared
//# [how=norelax] not: mold bfd -- the option is ignored or does less there
//# [how=norelax] link: got-relax-off.o --no-relax
//# [how=plain] obj: plain.o = got-relax-off.s -mrelax-relocations=no
//# [how=plain] link: plain.o
//# [how=shared] link: -shared got-relax-off.o
//# [!how=ifunc|plain] bytes: sym(f) = 48 8b 05
//# [how=plain weld|lld] bytes: sym(f) = 48 8b 05
//# [!how=plain] section: .got
.globl _start, data
_start:
f: movq data@GOTPCREL(%rip), %rax
.data
.globl data
data: .quad 1
.section .note.GNU-stack,"",@progbits
