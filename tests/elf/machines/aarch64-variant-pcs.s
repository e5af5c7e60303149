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
.globl here, elsewhere
.variant_pcs here
.variant_pcs elsewhere
.type here, %function
here:
    bl elsewhere
    b here
.section .note.GNU-stack,"",%progbits
