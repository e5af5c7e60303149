//# about: debug information that means a place by its section and an offset finds it in code that has become shorter
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-debug-places.o = riscv-debug-places.s @clang
//# link: -Ttext=0x10000 riscv-debug-places.o
//# check: sym(after) == 0x10004
//# check: sym(last) == 0x10008
//# contains: .debug_places = \x04\0\x01\0\0\0\0\0\x08\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0
.option norvc
.globl _start, after, last
_start:
  call after
after:
  call _start
last:
  ret
.section .debug_places,"",@progbits
.quad .text + 8
.quad .text + 16
.quad .text
.section .note.GNU-stack,"",@progbits
