//# about: -y: references and definitions of every kind
//# only: weld lld -- others print it otherwise
//# sh: ar rcs libx.a lazy.o one.o && $LD -shared dso.o --version-script=v.map -o libdso.so
//# link: trace-symbol.o common.o libx.a --start-lib later.o --end-lib ./libdso.so -y one -y lazy -y later -y shared -y common --trace-symbol=old
//# stdout-re: (?m)^trace-symbol\.o: reference to one$
//# stdout-re: (?m)^libx\.a\(one\.o\): definition of one$
//# stdout-re: (?m)^libx\.a(\(lazy\.o\))?: lazy definition of lazy$
//# stdout-re: (?m)^later\.o: lazy definition of later$
//# stdout-re: (?m)^trace-symbol\.o: reference to shared$
//# stdout-re: (?m)^\./libdso\.so: shared definition of shared
//# stdout-re: (?m)^common\.o: common definition of common$
//# [weld] stdout-re: (?m)^\./libdso\.so: shared definition of old@V1$
//# link: trace-symbol.o common.o libx.a ./libdso.so -t
//# stdout-re: (?m)^trace-symbol\.o\ncommon\.o\nlibx\.a\(one\.o\)\n\./libdso\.so$
.globl _start
_start: call one
  call shared@PLT
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
//--- lazy.s
.globl lazy
lazy: ret
.section .note.GNU-stack,"",@progbits
//--- later.s
.globl later
later: ret
.section .note.GNU-stack,"",@progbits
//--- common.s
.comm common, 8, 8
.section .note.GNU-stack,"",@progbits
//--- dso.s
.globl shared, old_impl
.symver old_impl, old@V1
shared: old_impl: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { global: *; };
