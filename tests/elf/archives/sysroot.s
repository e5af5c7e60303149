//# about: --sysroot goes before -L=DIR, -L$SYSROOT and absolute paths in a script of the sysroot
//# sh: mkdir -p root/lib root/usr/lib && ar rcs root/lib/libx.a a.o && ar rcs root/usr/lib/liby.a b.o && echo 'GROUP ( /lib/libx.a AS_NEEDED ( -ly ) )' > root/usr/lib/libz.so
//# not: bfd -- Debian builds it without sysroot support
//# link: sysroot.o --sysroot={dir}/root -L=/usr/lib -lz
//# symbol: a
//# symbol: b
//# link: sysroot.o --sysroot {dir}/root -L=/lib -L=/usr/lib -lx -ly
//# symbol: a
.globl _start
_start: call a
  call b
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl a
a: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl b
b: ret
.section .note.GNU-stack,"",@progbits
