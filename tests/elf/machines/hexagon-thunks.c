//# about: Hexagon: branches that do not reach go through thunks, in programs that may lie anywhere, too; so do those that reach less because they compare, or do something besides
//# not: bfd mold -- those that are installed are for this machine's programs
//# not: lld -- it cannot be told that branches reach less far
//# obj: hexagon-thunks.o = hexagon-thunks.c @clang --target=hexagon-unknown-linux-musl -ffreestanding -ffunction-sections -fPIC
//# link: -static hexagon-thunks.o --branch-reach=0x400 -o near
//# sh: qemu-hexagon -cpu v67 ./near || test $? = 55
//# symbol: __hexagon_thunk_f3 type=FUNC bind=LOCAL section=.text size=8
//# link: -static hexagon-thunks.o --branch-reach=0x400 --emit-relocs -o kept
//# sh: qemu-hexagon -cpu v67 ./kept || test $? = 55
// The real reach.
//# sh: llvm-mc-22 -filetype=obj -triple=hexagon -mno-fixup far.s -o far.obj
//# link: -static far.obj --section-start=.far=0x20000000 -o far
//# sh: qemu-hexagon -cpu v67 ./far || test $? = 7
//# disasm: __hexagon_thunk_last => immext\(#0x[0-9a-f]+\)\s+jump 0x20000000
//# link: -static -pie --no-dynamic-linker far.obj --section-start=.far=0x20000000 -o pie
//# sh: qemu-hexagon -cpu v67 ./pie || test $? = 7
//# link: -shared hexagon-thunks.o --branch-reach=0x400 -o library.so
//# symbol: __hexagon_thunk_f1
#define PAD __asm__ volatile("nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop");
#define LONG PAD PAD PAD PAD PAD PAD PAD PAD
int f1(int), f2(int), f3(int), f4(int), f5(int);
int f1(int n) { LONG if (!n) return 0; return n + f2(n - 1); }
int f2(int n) { LONG if (!n) return 0; return n + f3(n - 1); }
int f3(int n) { LONG if (!n) return 0; return n + f4(n - 1); }
int f4(int n) { LONG if (!n) return 0; return n + f5(n - 1); }
int f5(int n) { LONG if (!n) return 0; return n + f1(n - 1); }
__asm__(".globl _start; _start: r0 = #10; call f1; r6 = #93; trap0(#1)");
//--- far.s
    .globl _start
_start:
    r0 = #1
    r3 = #0
    call last
    p0 = cmp.eq(r3, #0)
    if (p0) jump second
    trap0(#0xdb)
fourth:
    { r4 = #0; jump fifth }
    .section .far,"ax"
    .globl last
last:
    r0 = add(r0, #2)
    jumpr r31
second:
    r0 = add(r0, #4)
    if (r3 == #0) jump:t fourth
    trap0(#0xdb)
fifth:
    r6 = #93
    trap0(#1)
