//# about: AArch64: distances from what is undefined and weak reach in programs at fixed addresses, with a loader and without
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# obj: aarch64-weak.o = aarch64-weak.s
//# obj: library.o = library.s
//# link: -shared library.o -o liblibrary.so
//# link: aarch64-weak.o
//# bytes: sym(_start) = 00 00 00 10 00 00 00 58
//# link: aarch64-weak.o liblibrary.so --dynamic-linker=/none
//# bytes: sym(_start) = 00 00 00 10 00 00 00 58
//# [weld] fail: -pie aarch64-weak.o
//# error: R_AARCH64_ADR_PREL_LO21 cannot give 'nobody', which is undefined and weak, the address 0 in position-independent output
    .weak nobody
    .globl _start
_start:
    adr x0, nobody
    ldr x0, nobody
//--- library.s
    .globl somebody
somebody: ret
