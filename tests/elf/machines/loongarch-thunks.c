//# about: LoongArch: branches that do not reach go through thunks, with code that gets shorter around them, and far calls that became branches reach by themselves
//# not: bfd mold -- those that are installed are for this machine's programs
//# not: lld -- it cannot be told that branches reach less far
//# matrix: relax=-mrelax,-mno-relax
//# obj: loongarch-thunks.o = loongarch-thunks.c @clang --target=loongarch64-unknown-linux-gnu -mno-lsx {relax} -mcmodel=normal -ffreestanding -ffunction-sections -fPIC
//# obj: far.o = far.s @clang --target=loongarch64-unknown-linux-gnu {relax}
//# link: -static loongarch-thunks.o --branch-reach=0x400 -o near
//# sh: qemu-loongarch64 ./near || test $? = 55
//# symbol: __LoongArchThunk_f3 type=FUNC bind=LOCAL section=.text
//# link: -static loongarch-thunks.o --branch-reach=0x400 --no-relax --emit-relocs -o kept
//# sh: qemu-loongarch64 ./kept || test $? = 55
// The real reach.
//# link: -static far.o --section-start=.far=0x20000000 -o far
//# sh: qemu-loongarch64 ./far || test $? = 7
//# disasm: __LoongArchThunk_last => pcaddu18i \$t0, \d+\njirl \$zero, \$t0
// Further than thunks reach.
//# fail: -static far.o --section-start=.far=0x4000020000
//# error: '\w+' lies too far from a branch to it, also for a thunk
//# link: -shared loongarch-thunks.o --branch-reach=0x400 -o library.so
//# symbol: __LoongArchThunk_f1
#define PAD __asm__ volatile("nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop");
#define LONG PAD PAD PAD PAD PAD PAD PAD PAD
int f1(int), f2(int), f3(int), f4(int), f5(int);
int f1(int n) { LONG if (!n) return 0; return n + f2(n - 1); }
int f2(int n) { LONG if (!n) return 0; return n + f3(n - 1); }
int f3(int n) { LONG if (!n) return 0; return n + f4(n - 1); }
int f4(int n) { LONG if (!n) return 0; return n + f5(n - 1); }
int f5(int n) { LONG if (!n) return 0; return n + f1(n - 1); }
__asm__(".globl _start; _start: li.w $a0, 10; bl f1; li.w $a7, 93; syscall 0");
//--- far.s
.globl _start
_start:
    bl last
    li.w $a7, 93
    syscall 0
.section .far,"ax"
    .p2align 4
last:
    li.w $a0, 7
    ret
