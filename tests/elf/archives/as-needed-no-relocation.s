//# about: without --gc-sections a library is needed if an object names what it defines, with a relocation or without
//# not: mold -- 1.10 does so with --gc-sections, too
//# link: -shared lib.o -o lib.so -soname lib.so
//# link: as-needed-no-relocation.o --as-needed lib.so
//# dynamic: NEEDED lib.so
//# dynsym: f section=UND bind=GLOBAL
//# link: -shared as-needed-no-relocation.o -o shared
//# dynsym: f section=UND bind=GLOBAL
//# [!bfd] link: as-needed-no-relocation.o --as-needed lib.so --gc-sections -o gc
//# [!bfd] no-dynamic: NEEDED
//# link: weak.o --as-needed lib.so -o weak
//# [!bfd] no-dynamic: NEEDED
.globl _start, f
_start: ret
.section .note.GNU-stack,"",@progbits
//--- weak.s
.globl _start
.weak f
_start: ret
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl f
.type f, @function
f: ret
.section .note.GNU-stack,"",@progbits
