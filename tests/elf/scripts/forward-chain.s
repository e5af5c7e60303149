//# about: symbols that depend on later ones, ten deep, beside the default layout; and circles, which are errors
//# only: weld -- ld.lld gives up on long chains, GNU ld takes what comes later for undefined
//# link: forward-chain.o -T x.ld
//# check: sym(a) == 8 + size(.text)
//# check: sym(i) == size(.text)
//# fail: forward-chain.o -T endless.ld
//# error: endless\.ld:1:1: the value depends on itself
.globl _start
_start: ret
.quad a, i
.section .note.GNU-stack,"",@progbits
//--- x.ld
a = b + 1; b = c + 1; c = d + 1; d = e + 1; e = f + 1; f = g + 1; g = h + 1; h = i + 1;
i = SIZEOF(.text);
//--- endless.ld
a = b + 1; b = a + 1; i = 1;
