//# about: RISC-V: .got begins with the address of .dynamic wherever it is; slots of one symbol lie as in other linkers: descriptor, module and offset, offset from the thread pointer
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-got.o = riscv-got.s @clang
//# link: -shared riscv-got.o
//# check: u64(addr(.got)) == addr(.dynamic)
//# check: size(.got) == 48
//# check: u64(addr(.got.plt)) == 0
//# reloc: TLSDESC sym=x in=.rela.dyn count=1
//# sh: llvm-readelf-22 -rW out | grep -o 'TLS_.*\|TLSDESC' | tr '\n' ' '
//# stdout-re: ^TLSDESC TLS_DTPMOD64 .* x . 0 TLS_DTPREL64 .* x . 0 TLS_TPREL64 .* x . 0
// The register for small data is a program's.
//# obj: gp.o = gp.s @clang
//# fail: -shared gp.o
//# [weld] error: R_RISCV_PCREL_HI20 cannot be used against symbol '__global_pointer\$' with -shared
.globl x
.type x, @tls_object
.text
call f@plt
.Ltlsdesc:
auipc a0, %tlsdesc_hi(x)
ld a1, %tlsdesc_load_lo(.Ltlsdesc)(a0)
addi a0, a0, %tlsdesc_add_lo(.Ltlsdesc)
jalr t0, 0(a1), %tlsdesc_call(.Ltlsdesc)
la.tls.gd a0, x
la.tls.ie a0, x
.section .tbss,"awT",@nobits
x: .zero 8
.section .note.GNU-stack,"",@progbits
//--- gp.s
lla gp, __global_pointer$
.section .note.GNU-stack,"",@progbits
