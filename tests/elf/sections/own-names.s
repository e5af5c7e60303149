//# about: sections of inputs that have the names of the linker's own are data like other: no header takes them for its own; but .interp of a library that has none names a loader
//# only: weld -- others join them with their own, or discard them
//# matrix: kind=pie,shared
//# obj: lib.o = lib.s
//# link: %shared lib.o -o lib.so
//# [kind=pie] link: %pie own-names.o lib.so
//# [kind=pie] no-verify: the verifier knows sections by name, too
//# [kind=shared] link: %shared own-names.o lib.so -o own.so
//# [kind=shared] no-verify: the verifier knows sections by name, too
//# [kind=shared] in: own.so
//# check: count(.dynamic) == 2
//# check: count(.got) == 2
//# check: count(.interp) >= 1
//# check: seg(DYNAMIC) == sym(_DYNAMIC)
//# [kind=pie] check: seg(GNU_EH_FRAME) == sym(__GNU_EH_FRAME_HDR)
//# [kind=pie] check: u8(sym(__GNU_EH_FRAME_HDR)) == 1
//# [kind=pie] segment: INTERP memsz=28
//# [kind=shared] segment: INTERP count=1
//# readelf-not: -SW => PROGBITS( +[0-9a-f]+){4} +[A-Z]* +[1-9][0-9]* +[0-9]+ +[0-9]+\n
//# [kind=shared] link: %pie main.o own.so lib.so
//# run: ./out
//# exit: 42
.macro own name, flags
.section \name,"\flags",@progbits
.balign 8
.quad 5
.endm
own .interp, a
own .dynsym, a
own .dynstr, a
own .hash, a
own .gnu.hash, a
own .gnu.version, a
own .rela.dyn, a
own .rela.plt, a
own .eh_frame_hdr, a
own .plt, ax
own .symtab, ""
own .strtab, ""
own .shstrtab, ""
.section .got,"aw",@progbits
got: .quad 1
.section .dynamic,"aw",@progbits
dynamic: .quad 2
.section .got.plt,"aw",@progbits
gotplt: .quad 3
.text
.globl run
.type run, @function
run:
  push %rbx
  lea _DYNAMIC(%rip), %rbx
  lea __GNU_EH_FRAME_HDR(%rip), %rbx
  # Data of the program can be written to.
  movq $11, got(%rip)
  movq $12, dynamic(%rip)
  movq $13, gotplt(%rip)
  call from_lib@PLT
  add got(%rip), %eax
  add dynamic(%rip), %eax
  add gotplt(%rip), %eax
  pop %rbx
  ret
.ifndef SHARED
.weak main
main: jmp run
.endif
.section .note.GNU-stack,"",@progbits
//--- main.s
.globl main
main: jmp run@PLT
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl from_lib
.type from_lib, @function
from_lib: mov $6, %eax
  ret
.section .note.GNU-stack,"",@progbits
