//# about: RISC-V: differences of labels that are sums of relocations, with a variable or a function of a shared object in them
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: riscv64
//# except: machine=x86-64
//# obj: riscv-differences.o = riscv-differences.s @clang
//# obj: library.o = library.s @clang
//# obj: own.o = own.s @clang
//# link: -shared library.o -o liblibrary.so
//# [weld] link: riscv-differences.o liblibrary.so
//# reloc: R_RISCV_COPY sym=variable count=1
//# check: s32(sym(data)) == sym(variable) - sym(data)
//# check: s32(sym(code)) == sym(data) - (addr(.plt) + 32)
//# readelf: --dyn-syms => [0-9a-f]{12}[1-9a-f][0-9a-f]* +0 FUNC +GLOBAL DEFAULT +UND function
// The loader adds no terms, so in a shared object there is nothing to refer to.
//# [weld] fail: -shared riscv-differences.o liblibrary.so
//# error: R_RISCV_SET32 cannot be used against symbol 'variable' with -shared; recompile with -fPIC
//# error: R_RISCV_SUB32 cannot be used against symbol 'function' with -shared; recompile with -fPIC
//# [weld] fail: -shared riscv-differences.o
//# error: R_RISCV_SET32 cannot be used against symbol 'variable' with -shared; recompile with -fPIC
// A thread-local variable of another module has no place that could be copied.
//# obj: local.o = local.s @clang
//# [weld] fail: local.o liblibrary.so
//# error: R_RISCV_ADD32 .*'each'
// What is defined here is taken as it is defined here.
//# [weld] link: -shared own.o
//# check: s32(dynsym(own)) == 8
.globl _start
_start: nop
.data
.globl data, code
data: .4byte 0
    .reloc data, R_RISCV_SET32, variable
    .reloc data, R_RISCV_SUB32, data
code: .4byte 0
    .reloc code, R_RISCV_SET32, data
    .reloc code, R_RISCV_SUB32, function
//--- library.s
.globl variable, function
.type function,@function
function: ret
.data
.type variable,@object
.size variable,8
variable: .8byte 5
.section .tdata,"awT",@progbits
.globl each
.type each,@object
.size each,8
each: .8byte 7
//--- local.s
.globl _start
_start: nop
.data
.4byte each - .
//--- own.s
.data
.globl own, more
own: .4byte 0, 0
    .reloc own, R_RISCV_SET32, more
    .reloc own, R_RISCV_SUB32, own
more: .4byte 0
