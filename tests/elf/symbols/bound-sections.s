//# about: a bound of sections belongs to the section that it is a bound of, also where another one begins
//# only: weld lld -- GNU ld's script aligns the bounds, mold has them in other sections
//# link: bound-sections.o
//# check: end(.data) == addr(.bss)
//# symbol: _etext section=.text
//# symbol: _edata section=.data
//# symbol: __bss_start section=.bss
//# symbol: _end section=.bss
//# check: sym(_edata) == sym(__bss_start)
// Nothing is to be relocated: the list lies at the start of the image, not at 0.
//# check: sym(__rela_iplt_start) == seg(LOAD)
//# check: sym(__rela_iplt_end) == seg(LOAD)
.globl _start
_start: ret
.data
.quad _etext, _edata, __bss_start, _end, __rela_iplt_start, __rela_iplt_end
.bss
.zero 8
.section .note.GNU-stack,"",@progbits
