//# about: warnings of segments with all rights, of text relocations, of alignment; the list of relative relocations
//# only: weld -- the words are its own
//# link: shape.o -N --warn-rwx-segments -o rwx
//# no-verify: -N
//# warning: (?s)the segment at 0x\w+ can be read, written and executed.*section \.text in it is code.*section \.data in it is data
//# fail: shape.o -N --error-rwx-segments -o rwx
//# error: can be read, written and executed
//# link: shape.o -N --warn-rwx-segments --no-warn-rwx-segments -o rwx
//# no-verify: -N
//# link: shape.o --error-rwx-segments -o apart
//# link: text.o -shared -z notext --warn-textrel -o a.so
//# warning: (?s)loader has to change read-only sections.*asked for by text\.o:\(\.text\+0x0\)
//# link: text.o -shared -z notext --warn-shared-textrel -o a.so
//# warning: DT_TEXTREL
//# link: text.o -pie -z notext --warn-shared-textrel -o a
//# link: text.o -shared -z notext -o a.so
//# link: ifunc.o -pie -z notext --warn-ifunc-textrel -o a
//# warning: chosen is an IFUNC, and -z notext
//# link: ifunc.o -pie -z notext --warn-ifunc-textrel --no-warn-ifunc-textrel -o a
//# link: ifunc.o -pie --warn-ifunc-textrel -o a
//# link: tls.o -T tls.ld --warn-rwx-segments -o tls
//# no-verify: the thread-local segment is code
//# warning: the thread-local segment \(PT_TLS\) at 0x\w+ can be executed
//# link: shape.o -N --warn-section-align -o align
//# no-verify: -N
//# warning: section \.data starts \d+ bytes later, at 0x\w+, because of its alignment to 64
//# link: shape.o -pie -z report-relative-reloc -o pie
//# stdout-re: (?m)^relative relocation at 0x\w+: 0x\w+, shape\.o:\(\.data\+0x0\)
//# stdout-re: (?m)^relative relocation at 0x\w+: 0x\w+, shape\.o:\(\.data\+0x8\)
//# stdout-re: (?m)^relative relocation at 0x\w+: slot of local in \.got
.globl _start, d
_start: push local@GOTPCREL(%rip)
.hidden local
.globl local
local: ret
.data
.p2align 6
d: .quad _start
.quad d
.section .note.GNU-stack,"",@progbits
//--- text.s
.globl _start
_start: .quad _start
.section .note.GNU-stack,"",@progbits
//--- ifunc.s
.globl _start, chosen
_start: call chosen
.hidden chosen
.type chosen, @gnu_indirect_function
chosen: ret
.section .note.GNU-stack,"",@progbits
//--- tls.s
.globl _start
_start: ret
.section .tdata,"awT"
.quad 1
.section .note.GNU-stack,"",@progbits
//--- tls.ld
PHDRS { text PT_LOAD; data PT_LOAD FLAGS(6); tls PT_TLS FLAGS(5); }
SECTIONS { .text 0x10000 : { *(.text) } :text .tdata 0x20000 : { *(.tdata) } :data :tls .data : { *(.data) } :data }
