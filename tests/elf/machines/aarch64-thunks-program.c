//# about: AArch64: C programs and libraries whose functions are far from one another for branches, in all kinds of output and by a script
// gcc asks for fixes, for which pools have whole pages, more than so short a reach leaves room for.
//# not: lld bfd mold -- they cannot be told that branches reach less far
//# machines: aarch64
//# except: machine=x86-64
//# cflags: -fPIC -ffunction-sections
//# obj: library.o = library.c -fPIC -ffunction-sections
//# link: %pie aarch64-thunks-program.o library.o --no-fix-cortex-a53-843419 --branch-reach=0x1000 -o pie
//# run: pie
//# stdout: 5050 3
//# symbol: __AArch64ADRPThunk_f1 type=FUNC bind=LOCAL section=.text
//# link: %nopie aarch64-thunks-program.o library.o --no-fix-cortex-a53-843419 --branch-reach=0x1000 -o nopie
//# run: nopie
//# stdout: 5050 3
//# link: %static aarch64-thunks-program.o library.o --no-fix-cortex-a53-843419 --branch-reach=0x1000 --gc-sections --icf=all -o static
//# run: static
//# stdout: 5050 3
//# link: %static-pie aarch64-thunks-program.o library.o --no-fix-cortex-a53-843419 --branch-reach=0x2000 -z pack-relative-relocs -o static-pie
//# run: static-pie
//# stdout: 5050 3
//# link: %shared library.o --no-fix-cortex-a53-843419 --branch-reach=0x400 --emit-relocs -o library.so
// Through the PLT, too.
//# symbol: __AArch64ADRPThunk_answer
//# link: %shared library.o --no-fix-cortex-a53-843419 --branch-reach=0x400 --pack-dyn-relocs=android -o android.so
//# symbol: __AArch64ADRPThunk_answer
//# link: %pie aarch64-thunks-program.o library.so --no-fix-cortex-a53-843419 --branch-reach=0x400 -o dynamic
//# run: dynamic
//# stdout: 5050 3
//# link: %static aarch64-thunks-program.o library.o --no-fix-cortex-a53-843419 --branch-reach=0x1000 -T script -o scripted
//# run: scripted
//# stdout: 5050 3
//# check: sym(end_of_first) > addr(.text)
#include <stdio.h>
int answer(void) { return 3; }
int f1(int);
int ask(void);
int main(void) {
    printf("%d %d\n", f1(100), ask());
    return 0;
}
//--- library.c
int answer(void);
int ask(void) { return answer(); }
#define PADDING __asm__ volatile(".rept 90; nop; .endr")
#define F(n, next) int next(int); int n(int i) { PADDING; return i == 0 ? 0 : i + next(i - 1); }
F(f1, f16) F(f2, f15) F(f3, f14) F(f4, f13) F(f5, f12) F(f6, f11) F(f7, f10) F(f8, f9)
F(f16, f2) F(f15, f3) F(f14, f4) F(f13, f5) F(f12, f6) F(f11, f7) F(f10, f8) F(f9, f1)
//--- script
SECTIONS {
    . = 0x400000 + SIZEOF_HEADERS;
    .note : { *(.note*) }
    .rela.plt : { PROVIDE_HIDDEN(__rela_iplt_start = .); *(.rela.plt .rela.iplt) PROVIDE_HIDDEN(__rela_iplt_end = .); }
    .init : { KEEP(*(.init)) }
    .plt : { *(.plt .iplt) }
    .text : { *(.text.f1*) end_of_first = .; QUAD(end_of_first) *(SORT_BY_NAME(.text.*)) *(.text) }
    .fini : { KEEP(*(.fini)) }
    . = ALIGN(0x10000);
    .rodata : { *(.rodata .rodata.*) }
    .eh_frame : { KEEP(*(.eh_frame)) }
    . = ALIGN(0x10000);
    .tdata : { *(.tdata .tdata.*) }
    .tbss : { *(.tbss .tbss.*) }
    .init_array : { KEEP(*(.init_array)) }
    .fini_array : { KEEP(*(.fini_array)) }
    .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) }
    .got : { *(.got) *(.got.plt) }
    .data : { *(.data .data.*) }
    .bss : { *(.bss .bss.* COMMON) }
    _end = .;
}
