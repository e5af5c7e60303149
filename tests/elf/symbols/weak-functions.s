//# about: a weak function that nothing defines, in a program with a library: left to the loader, though no loader is named; not without libraries
//# only: weld -- GNU ld names a loader by itself
//# link: -shared lib.o -o liba.so
//# link: --no-as-needed weak-functions.o liba.so -o fixed
//# dynsym: weakly bind=WEAK section=UND
//# link: --no-as-needed weak-functions.o liba.so -z nodynamic-undefined-weak -o null
//# no-dynsym: weakly
//# link: --no-as-needed weak-functions.o liba.so --no-dynamic-linker -o alone
//# no-dynsym: weakly
//# link: -pie --no-dynamic-linker -z dynamic-undefined-weak weak-functions.o -o static
//# warning: -z dynamic-undefined-weak has no effect without a loader
//# no-dynsym: weakly
//# sh: $LD_DIR/ld.lld -pie --no-dynamic-linker -z dynamic-undefined-weak weak-functions.o -o lld
//# in: lld
//# dynsym: weakly
//# link: -r -z dynamic-undefined-weak weak-functions.o -o r.o
//# warning: -z dynamic-undefined-weak has no effect with -r
//# sh: $LD --help | sed -e '1,/^elf_x86_64:/d;/^[^ ]*:/,$d' > shown && grep dynamic-undefined-weak shown
.weak weakly
.type weakly, @function
.globl _start
_start: call weakly@plt
  ret
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl other
other: ret
.section .note.GNU-stack,"",@progbits
