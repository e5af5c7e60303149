//# about: -r keeps one of two COMDAT groups, with members and relocations renumbered; frames and debug \
//#   information of the other lose their references
//# not: mold -- 1.10 makes files that do not verify
//# link: -r groups.o two.o -o r.o
//# section: .group type=GROUP entsize=4
//# check: count(.group) == 2
//# check: count(.text.f) == 1
//# check: count(.rela.data.f) == 1
//# check: size(.text.f) == 1
//# readelf: -g => COMDAT group section \[ *\d+\] `\.group' \[f\] contains 3 sections:\n.*\n.*\.text\.f\n.*\.data\.f\n.*\.rela\.data\.f
//# readelf: -g => group section \[ *\d+\] .\.group. \[plain\] contains 1 sections
//# reloc: R_X86_64_64 in=.rela.data.f sym=f addend=0
//# readelf: -r => R_X86_64_64 .* \.text\.f \+ 0
//# [weld] reloc: NONE in=.rela.debug_info count=1
//# [weld] reloc: NONE in=.rela.debug_ranges count=1
//# [weld] readelf: -x .debug_ranges => 01000000 00000000
//# [weld] readelf: -x .debug_info => 00000000 00000000
//# link: r.o -o out
//# run: ./out
//# exit: 3
//# link: r.o three.o -o out
//# run: ./out
//# exit: 3
.section .text.f,"axG",@progbits,f,comdat
.weak f
f: ret
.section .data.f,"awG",@progbits,f,comdat
.quad f
.section .extra,"aG",@progbits,plain
.quad 1
.text
.globl _start
_start: call f
  mov $3, %edi
  mov $60, %eax
  syscall
.section .debug_info,"",@progbits
.quad .text.f
.section .note.GNU-stack,"",@progbits
//--- two.s
.section .text.f,"axG",@progbits,f,comdat
nop
.weak f
f: ret
.section .data.f,"awG",@progbits,f,comdat
.quad f, f
.section .debug_info,"",@progbits
.quad .text.f
.section .debug_ranges,"",@progbits
.quad .text.f
.section .note.GNU-stack,"",@progbits
//--- three.s
.section .text.f,"axG",@progbits,f,comdat
ud2
.weak f
f: ud2
.section .note.GNU-stack,"",@progbits
