//# about: inputs that begin with = or $SYSROOT are below the sysroot
//# only: weld bfd -- lld knows = for -L and in scripts
//# sh: mkdir -p root/lib; ar rc root/lib/f.a f.o
//# link: --sysroot={dir}/root in-sysroot.o =/lib/f.a
//# sh: $LD --sysroot={dir}/root in-sysroot.o '$SYSROOT/lib/f.a' -o second
//# fail: --sysroot={dir}/root in-sysroot.o =/lib/g.a
//# [weld] error: root/lib/g\.a
//# obj: f.o = f.s
.globl _start
_start: call f
.section .note.GNU-stack,"",@progbits
//--- f.s
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
