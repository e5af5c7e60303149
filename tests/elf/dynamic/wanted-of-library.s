//# about: -u, --require-defined and EXTERN of what a library defines: the name is asked for; the library is not needed for that alone
//# only: weld bfd -- ld.lld and mold forget it
//# link: -shared lib.o -soname liba.so -o liba.so
//# link: wanted-of-library.o liba.so -u bar -o u
//# dynsym: bar
//# link: wanted-of-library.o --as-needed liba.so -u bar -o plain
//# no-dynamic: NEEDED liba.so
//# no-dynsym: bar
//# link: wanted-of-library.o liba.so --gc-sections --require-defined=bar -o r
//# dynsym: bar
//# sh: printf 'EXTERN(bar)' > e.ld
//# link: wanted-of-library.o liba.so e.ld -o e
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
