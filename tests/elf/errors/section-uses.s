//# about: sections that cannot be what they say: .preinit_array in a shared object, debug sections compressed in the old way, stabs
//# only: weld -- GNU ld refuses the first, reads the second and merges the last; lld and mold write what is wrong
//# obj: zdebug.o = zdebug.s
//# fail: -shared section-uses.o
//# error: section-uses.o:\(\.preinit_array\): .*only a program
//# link: section-uses.o -o a
//# section: .preinit_array
//# fail: section-uses.o zdebug.o -o b
//# error: zdebug.o:\(\.zdebug_info\): .*compressed in the old way
//# link: section-uses.o zdebug.o -S -o c
//# sh: printf '.globl _start\n_start: ret\n.stabs "x.c",100,0,0,_start\n' | as -o stabs.o
//# link: stabs.o -o e
//# warning: stabs.o: .stab is left out
//# no-section: .stab .stabstr
//# link: stabs.o --strip-debug -o f
//# stderr-not: stab
.globl _start
_start: ret
.section .preinit_array,"aw",@preinit_array
.quad _start
.section .note.GNU-stack,"",@progbits
//--- zdebug.s
.section .zdebug_info,"",@progbits
.ascii "ZLIB"
.zero 8
.section .note.GNU-stack,"",@progbits

