//# about: what readers of ELF files check: _TLS_MODULE_BASE_ is thread-local; relocations that a program applies itself are linked to a symbol table that is there, and belong to .got.plt
//# not: lld mold gold -- they differ
//# link: -shared for-readers.o
//# symbol: _TLS_MODULE_BASE_ type=TLS value=0
//# obj: ifunc.o = ifunc.s
//# link: ifunc.o
//# sh: number() { llvm-readelf-22 -SW out | sed -nE "s/^ *\[ *([0-9]+)\] \.$1 .*/\1/p"; }; llvm-readelf-22 -SW out | grep -E ' \.rel[a.a-z]* ' | grep -E " AI +$(number symtab) +$(number got.plt) "
.globl f
f: lea _TLS_MODULE_BASE_@tlsdesc(%rip), %rax
  call *_TLS_MODULE_BASE_@tlscall(%rax)
  lea x@dtpoff(%rax), %rax
  ret
.section .tdata,"awT",@progbits
x: .quad 1
.section .note.GNU-stack,"",@progbits
//--- ifunc.s
.globl _start, r
_start: jmp g
.type g, @gnu_indirect_function
.globl g
g: lea _start(%rip), %rax
  ret
.section .note.GNU-stack,"",@progbits
