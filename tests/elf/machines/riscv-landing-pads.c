//# about: RISC-V: landing pads and shadow stacks (Zicfilp, Zicfiss): what all objects claim, what options say, and entries of the PLT with pads, which run
//# not: bfd mold -- those that are installed do not know it
//# matrix: cc=gcc libc=glibc kind=nopie,pie
//# machines: riscv64
//# except: machine=x86-64
//# obj: unlabeled.o = unlabeled.s @clang
//# obj: labeled.o = labeled.s @clang
//# obj: both.o = both.s @clang
//# obj: neither.o = neither.s @clang
//# obj: narrow.o = narrow.s @clang --target=riscv32-linux-gnu
//# [kind=nopie] link: %nopie riscv-landing-pads.o -z lazy -z zicfilp=unlabeled -z zicfiss=always
//# [kind=pie] link: %pie riscv-landing-pads.o -z lazy -z zicfilp=func-sig
//# run: {dir}/out 3
//# stdout: 1
//# stdout: 2
//# stdout: 3
//# [kind=nopie] readelf: -n => ZICFILP-unlabeled, ZICFISS
//# [kind=pie] readelf: -n => ZICFILP-func-sig\n
// The jumps of entries go by t2, and an entry begins with a pad.
//# [weld] sh: llvm-objdump-22 -d --no-show-raw-insn --mattr=+experimental-zicfilp -j .plt out > plt.txt
//# [weld] file: plt.txt => (?s)auipc\s+t3.*sub\s+t1, t1, t2.*ld\s+t2.*addi\s+t1, t1, -0x30.*jr\s+t2
//# [weld] file: plt.txt => lpad\s+0x0\n.*auipc\s+t2.*\n.*ld\s+t2.*\n.*jalr\s+t1, t2
//# [weld] file-not: plt.txt => jalr\s+t1, t3
//# [kind=pie] link: -shared unlabeled.o
//# [kind=pie] readelf: -n => ZICFILP-unlabeled, ZICFISS
//# [kind=pie] link: -shared unlabeled.o neither.o
//# [kind=pie] no-section: .note.gnu.property
//# [kind=pie] link: -shared unlabeled.o -z zicfilp=never -z zicfiss=never
//# [kind=pie] no-section: .note.gnu.property
//# [kind=pie] link: -shared unlabeled.o -z zicfilp=never -z zicfilp=implicit
//# [kind=pie] readelf: -n => ZICFILP-unlabeled, ZICFISS
//# [kind=pie] link: -r unlabeled.o unlabeled.o -o twice.o
//# [kind=pie] readelf: -n => ZICFILP-unlabeled, ZICFISS
//# [kind=pie] link: -m elf32lriscv -shared narrow.o
//# [kind=pie] readelf: -n => ZICFILP-unlabeled
//# [kind=pie] sh: llvm-objdump-22 -d --no-show-raw-insn --mattr=+experimental-zicfilp -j .plt out > plt.txt
//# [kind=pie weld] file: plt.txt => lpad\s+0x0\n.*auipc\s+t2.*\n.*lw\s+t2.*\n.*jalr\s+t1, t2
//# [kind=pie weld] link: -shared unlabeled.o neither.o -z zicfilp-unlabeled-report=warning -z zicfiss-report=warning
//# [kind=pie] warning: neither.o: -z zicfilp-unlabeled-report: file does not claim landing pads without labels
//# [kind=pie] warning: neither.o: -z zicfiss-report: file does not claim shadow stacks
//# [kind=pie weld] fail: -shared unlabeled.o -z zicfilp-func-sig-report=error
//# [kind=pie] error: unlabeled.o: -z zicfilp-func-sig-report: file does not claim landing pads with labels
//# [kind=pie weld] fail: -shared both.o
//# [kind=pie] error: both.o: claims landing pads with labels, and landing pads without
//# [kind=pie weld] link: -shared labeled.o -z zicfilp=unlabeled
//# [kind=pie] warning: labeled.o: -z zicfilp=unlabeled: file has landing pads with labels
//# [kind=pie] readelf: -n => feature: ZICFILP-unlabeled\n
//# [kind=pie weld] fail: -shared labeled.o -z zicfilp=always
//# [kind=pie] error: -z zicfilp: expected implicit, unlabeled, func-sig or never, but got 'always'
//# [kind=pie weld] sh-fail: printf '' | as - -o native.o && $LD -shared -z zicfilp=unlabeled -z zicfiss-report=error native.o -o native.so
//# [kind=pie] stderr-re: (?s)-z zicfilp: x86-64 has no such property.*-z zicfiss-report: x86-64 has no such property
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    // Called by way of the loader first, then not.
    for (int i = 1; i <= atoi(argv[1]); i++)
        printf("%d\n", i);
    return 0;
}
//--- unlabeled.s
    .section ".note.gnu.property", "a"
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000000, 4, 3, 0
    .text
    call f
//--- labeled.s
    .section ".note.gnu.property", "a"
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000000, 4, 4, 0
//--- both.s
    .section ".note.gnu.property", "a"
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000000, 4, 7, 0
//--- neither.s
    .text
    nop
//--- narrow.s
    .section ".note.gnu.property", "a"
    .p2align 2
    .long 4, 12, 5
    .asciz "GNU"
    .long 0xc0000000, 4, 1
    .text
    call f
