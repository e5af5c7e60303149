//# about: --audit and --depaudit
//# only: weld bfd -- lld and mold have neither
//# link: -shared audit.o --audit=a.so --depaudit b.so -P c.so
//# dynamic: AUDIT a.so
//# dynamic: DEPAUDIT b.so:c.so
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
