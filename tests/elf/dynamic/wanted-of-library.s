//# about: -u, --require-defined and EXTERN of what a library defines: the library is needed, and the name asked for
//# only: weld bfd -- ld.lld and mold forget it
//# link: -shared lib.o -soname liba.so -o liba.so
//# link: wanted-of-library.o --as-needed liba.so -o plain
//# no-dynamic: NEEDED liba.so
//# link: wanted-of-library.o --as-needed liba.so -u bar -o u
//# dynamic: NEEDED liba.so
//# dynsym: bar
//# link: wanted-of-library.o --as-needed liba.so --gc-sections --require-defined=bar -o r
//# dynamic: NEEDED liba.so
//# dynsym: bar
//# sh: printf 'EXTERN(bar)' > e.ld
//# link: wanted-of-library.o --as-needed liba.so e.ld -o e
//# dynamic: NEEDED liba.so
//# dynsym: bar
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl bar
.type bar, @object
.size bar, 4
.data
bar: .long 1
.section .note.GNU-stack,"",@progbits
