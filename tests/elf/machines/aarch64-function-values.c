//# about: AArch64: words that get what functions return when the program starts (R_AARCH64_FUNCINIT64), with a loader and without
//# not: bfd mold -- those that are installed do not know it
//# matrix: cc=gcc libc=glibc kind=static,nopie,pie
//# machines: aarch64
//# except: machine=x86-64
//# obj: words.o = words.s @clang
//# [kind=static] link: %static aarch64-function-values.o words.o
//# [kind=nopie] link: %nopie aarch64-function-values.o words.o
//# [kind=pie] link: %pie aarch64-function-values.o words.o
//# run: {dir}/out
//# stdout: 42 43 44 null
//# [kind=pie] reloc: IRELATIVE at=sym(words) addend=sym(first)
// The last ones: functions may count on what is relocated.
//# [kind=pie] readelf: -r => (?s)ABS64.*IRELATIVE
//# obj: shared.o = shared.s @clang
//# [kind=pie weld] link: -shared shared.o -o libs.so
//# [kind=pie weld] reloc: IRELATIVE count=1
//# [kind=pie weld] link: -shared shared.o --pack-dyn-relocs=android
//# [kind=pie weld] fail: -shared words.o
//# error: words.o:\(\.data\+0x0\): R_AARCH64_FUNCINIT64 needs 'first' to be defined in this output for good
//# [kind=pie weld] sh: printf '.data; .quad i@FUNCINIT; .type i, %%gnu_indirect_function; i: ret' | clang-22 --target=aarch64-linux-gnu -c -x assembler - -o ifunc.o
//# [kind=pie weld] fail: -pie ifunc.o
//# error: R_AARCH64_FUNCINIT64 calls 'i', which is an IFUNC
//# obj: absolute.o = absolute.s @clang
//# obj: number.o = number.s @clang
//# [kind=pie weld] fail: -pie absolute.o number.o
//# error: R_AARCH64_FUNCINIT64 cannot refer to absolute symbol 'a' in position-independent output
//# [kind=pie weld] sh: printf '.globl _start; _start: ret; .section .rodata,"a"; .quad _start@FUNCINIT' | clang-22 --target=aarch64-linux-gnu -c -x assembler - -o fixed.o
//# [kind=pie weld] fail: -pie fixed.o
//# error: R_AARCH64_FUNCINIT64 in a read-only section needs a dynamic relocation against '_start'
//# [kind=pie weld] fail: shared.o -e f
//# error: nothing in the program names __rela_iplt_start
#include <stdio.h>

extern long words[4];
extern long *at;
long base = 40;

// Counts on nothing that a loader has not done before.
long first(void) { return 42; }
long second(void) { return 43; }
long third(void) { return *&base + 4; }

int main(void) {
    printf("%ld %ld %ld %s\n", at[0], words[1], words[2], words[3] ? "something" : "null");
    return 0;
}
//--- words.s
    .globl words, at
    .weak nothing
    .hidden nothing
    .data
    .p2align 3
words:
    .quad first@FUNCINIT
    .quad second@FUNCINIT
    .quad third@FUNCINIT
    .quad nothing@FUNCINIT
at: .quad words
    .quad puts
//--- shared.s
    .globl f
    .protected f
    .text
f:  ret
    .data
    .p2align 3
    .quad f@FUNCINIT
//--- absolute.s
    .data
    .quad a@FUNCINIT
//--- number.s
    .globl a
    a = 4
