//# about: what uses IFUNCs, unique symbols or SHF_GNU_RETAIN is for GNU systems, as its objects say
//# obj: unique.o = unique.s
//# obj: ifunc.o = ifunc.s
//# obj: retain.o = retain.s
//# only: weld lld -- GNU ld looks at what is left, mold 1.10 does not care
//# matrix: with=unique,ifunc,retain
//# link: osabi.o -o plain
//# readelf: -h => OS/ABI: +UNIX - System V
//# link: osabi.o {with}.o
//# readelf: -h => OS/ABI: +UNIX - GNU
//# link: -r osabi.o {with}.o -o r.o
//# readelf: -h => OS/ABI: +UNIX - GNU
//# [with=retain] section: .kept flags=AR
//# [with=retain] in: out
//# [with=retain] section: .kept flags=AR
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- unique.s
.data
.globl u
.type u, @gnu_unique_object
u: .quad 0
.section .note.GNU-stack,"",@progbits
//--- ifunc.s
.type f, @gnu_indirect_function
f: ret
.section .note.GNU-stack,"",@progbits
//--- retain.s
.section .kept,"aR",@progbits
.quad 1
.section .note.GNU-stack,"",@progbits
