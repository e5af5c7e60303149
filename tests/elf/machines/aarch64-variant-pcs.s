//# about: AArch64: functions that use more registers than loaders keep are marked in the dynamic symbol table, and the loader is told
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# link: -shared aarch64-variant-pcs.o
//# readelf: --dyn-syms => \[VARIANT_PCS\] +UND elsewhere
//# readelf: --dyn-syms => \[VARIANT_PCS\] +[0-9]+ here
//# readelf: -d => AARCH64_VARIANT_PCS
//# link: -shared -Bsymbolic aarch64-variant-pcs.o --defsym=elsewhere=here
//# readelf-not: -d => AARCH64_VARIANT_PCS
// The library says it, the reference does not.
//# sh: printf '.globl _start; _start: bl here; bl other\n' | $AS - -o call.o
//# sh: printf '.globl other; .type other, %%function; other: ret\n' | $AS - -o other.o
//# link: -shared aarch64-variant-pcs.o other.o -o lib.so
//# link: --allow-shlib-undefined call.o lib.so
//# readelf: -d => AARCH64_VARIANT_PCS
//# readelf: --dyn-syms => \[VARIANT_PCS\] +UND here
//# readelf: --dyn-syms => DEFAULT +UND other
.globl here, elsewhere
.variant_pcs here
.variant_pcs elsewhere
.type here, %function
here:
    bl elsewhere
    b here
.section .note.GNU-stack,"",%progbits
