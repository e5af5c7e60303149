//# about: a script lies in the sysroot however both are named, and then nothing of the host is linked
//# not: bfd -- Debian builds it without sysroot support
//# not: mold -- 1.10 compares texts
//# sh: mkdir -p root/lib root/other && as x.s -o root/lib/x.o && as host.s -o host.o && echo 'INPUT(/lib/x.o)' > root/lib/x.t && echo "INPUT({dir}/host.o)" > root/lib/host.t && ln -sfn root link && cp root/lib/x.t outside.t && ln -sf ../../outside.t root/lib/to-outside.t
//# link: sysroot-names.o --sysroot=root {dir}/root/lib/x.t
//# symbol: x
//# link: sysroot-names.o --sysroot={dir}/root/other/.. root/lib/x.t
//# symbol: x
//# link: sysroot-names.o --sysroot=./root root/other/../lib/x.t
//# symbol: x
//# link: sysroot-names.o --sysroot=link {dir}/root/lib/to-outside.t
//# symbol: x
//# link: sysroot-names.o --sysroot=root -L=lib -l:x.t
//# symbol: x
//# fail: sysroot-names.o --sysroot=root root/lib/host.t
//# error: host\.o
//# fail: sysroot-names.o --sysroot=root/other root/lib/x.t
//# error: /lib/x\.o
.globl _start
_start: call x
.section .note.GNU-stack,"",@progbits
//--- x.s
.globl x
x: ret
.section .note.GNU-stack,"",@progbits
//--- host.s
.globl x
x: nop
  ret
.section .note.GNU-stack,"",@progbits
