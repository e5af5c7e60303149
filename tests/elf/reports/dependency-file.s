//# about: --dependency-file has everything that was read: members of thin archives, scripts and what they name, version scripts
//# not: bfd mold lld -- they leave some out
//# sh: mkdir -p sub && cp one.o two.o sub/ && ar rcsT libthin.a sub/one.o sub/two.o && ar rcs libin.a three.o
//# link: -shared dependency-file.o libthin.a x.ld --version-script=v.map --dynamic-list=d.list -o out --dependency-file=out.d
//# file: out.d => ^out: \\\n
//# file: out.d => dependency-file\.o
//# file: out.d => libthin\.a
//# file: out.d => sub/one\.o
//# file: out.d => x\.ld
//# file: out.d => libin\.a
//# file: out.d => v\.map
//# file: out.d => d\.list
//# sh: ! grep two.o out.d
//# fail: dependency-file.o gone.o --dependency-file=none.d
//# error: gone\.o
//# missing: none.d
.globl _start
_start: call one@PLT
  call three@PLT
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: ret
.section .note.GNU-stack,"",@progbits
//--- x.ld
INPUT(libin.a)
//--- v.map
{ global: *; };
//--- d.list
{ one; };
