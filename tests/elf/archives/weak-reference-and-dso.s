//# about: a weak reference takes no member out, but a shared library behind the archive meets it
//# link: -shared --version-script=v.map -soname=lib.so w.o -o lib.so
//# sh: ar rcs libx.a w.o
//# link: -shared weak-reference-and-dso.o libx.a lib.so
//# [!mold] dynsym: w@V1 section=UND bind=WEAK
//# dynamic: NEEDED lib.so
//# link: weak-reference-and-dso.o libx.a lib.so -o exe
//# dynsym: w@V1
//# no-symbol: body
//# [!bfd] link: weak-reference-and-dso.o --start-lib w.o --end-lib lib.so -o lazy
//# [!bfd] dynsym: w@V1
.globl _start
.weak w
_start: call w@PLT
.section .note.GNU-stack,"",@progbits
//--- w.s
.globl w
.type w, @function
w: ret
body: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { *; };
