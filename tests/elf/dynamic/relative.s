//# about: RELATIVE relocations first and counted, in order of address with -z combreloc
//# not: mold -- 1.10 writes no DT_RELACOUNT
//# link: -shared relative.o -z combreloc
//# dynamic: RELACOUNT 3
//# reloc: RELATIVE count=3
//# reloc: R_X86_64_64 sym=ext count=2
//# check: u64(dyn(RELA)) == sym(w1)
//# check: u64(dyn(RELA) + 24) == sym(w3)
//# check: u64(dyn(RELA) + 48) == sym(w4)
//# [!bfd] link: -shared relative.o -z nocombreloc
//# [weld|lld] no-dynamic: RELACOUNT
.data
.globl w0
w0: .quad ext
w1: .quad local
w2: .quad ext + 8
w3: .quad local + 1
w4: .quad hid
local: .quad 0
.globl hid
.hidden hid
hid: .quad 0
.section .note.GNU-stack,"",@progbits
