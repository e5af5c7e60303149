//# about: the symbols that linkers define, and where they point
//# matrix: kind=exec,pie
//# [kind=exec] link: linker-defined.o
//# [kind=pie] link: -pie linker-defined.o
//# check: sym(__ehdr_start) == seg(LOAD)
//# check: sym(_etext) == end(.text)
//# check: sym(etext) == sym(_etext)
//# check: sym(edata) == sym(_edata)
//# check: end(.data) <= sym(_edata) <= addr(.bss)
//# check: addr(.bss) <= sym(__bss_start) < end(.bss)
//# check: end(.bss) <= sym(_end) <= end(.bss) + 15
//# check: sym(end) == sym(_end)
//# check: sym(__init_array_start) == addr(.init_array)
//# check: sym(__init_array_end) == end(.init_array)
//# check: sym(__fini_array_start) == sym(__fini_array_end)
//# check: sym(__preinit_array_start) == sym(__preinit_array_end)
//# check: sym(__start_custom) == addr(custom)
//# check: sym(__stop_custom) == end(custom)
//# [kind=pie] check: sym(_DYNAMIC) == addr(.dynamic)
//# [kind=exec !bfd] symbol: __start_missing value=0
//# [kind=exec !bfd] symbol: _DYNAMIC value=0
.globl _start
_start:
  lea __ehdr_start(%rip), %rax
  lea _etext(%rip), %rax
  lea etext(%rip), %rax
  lea edata(%rip), %rax
  lea _edata(%rip), %rax
  lea __bss_start(%rip), %rax
  lea end(%rip), %rax
  lea _end(%rip), %rax
  lea __init_array_start(%rip), %rax
  lea __init_array_end(%rip), %rax
  lea __fini_array_start(%rip), %rax
  lea __fini_array_end(%rip), %rax
  lea __preinit_array_start(%rip), %rax
  lea __preinit_array_end(%rip), %rax
  lea __start_custom(%rip), %rax
  lea __stop_custom(%rip), %rax
  mov _GLOBAL_OFFSET_TABLE_@GOTPCREL(%rip), %rax
  mov _DYNAMIC@GOTPCREL(%rip), %rax
  mov __start_missing@GOTPCREL(%rip), %rax
  .weak __start_missing, _DYNAMIC
.data
.quad 1
.bss
.zero 100
.section .init_array,"aw",@init_array
.quad 0
.section custom,"aw",@progbits
.quad 5, 6, 7
.section .note.GNU-stack,"",@progbits
