//# about: SHF_LINK_ORDER sections in the order of what is not in the output, or not in one piece
//# not: bfd mold -- they accept it, or say other things
//# obj: link-order.o = link-order.s @clang
//# obj: merged.o = merged.s @clang
//# obj: group.o = group.s @clang
//# fail: link-order.o --gc-sections
//# error: link-order\.o:\(\.bar\): .*(is in the order of section \d+ \(sh_link\), \.foo, which is not in the output|discarded section)
//# link: link-order.o
//# fail: merged.o
//# error: merged\.o:\(\.bar\): is in the order of section \d+ \(sh_link\), \.merge, which is not in one piece in the output|non-regular section
// What is linked to a section of a group that lost goes with it.
//# sh: cp group.o group2.o
//# link: link-order.o group.o group2.o
//# check: size(.linked) == 8
.globl _start
_start: call bar
.section .foo,"a",@progbits
.quad 0
.section .bar,"ao",@progbits,.foo
bar: .quad 0
.section .note.GNU-stack,"",@progbits
//--- merged.s
.globl _start
_start: ret
.section .merge,"aM",@progbits,8
.quad 0
.section .bar,"ao",@progbits,.merge
.quad 0
.section .note.GNU-stack,"",@progbits
//--- group.s
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .linked,"ao",@progbits,.text.f
.quad .text.f
.section .note.GNU-stack,"",@progbits
