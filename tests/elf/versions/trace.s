//# about: -y takes a name with a version, too, of objects and of libraries
//# only: weld lld -- others trace plain names
//# obj: lib.o = lib.s
//# link: -shared lib.o --version-script=v.map -o libv.so
//# link: trace.o libv.so -y f@V1
//# stdout-re: libv\.so: shared definition of f@V1
//# link: trace.o libv.so -y f@V2
//# stdout-not: f
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl f1
.symver f1, f@V1
f1: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { };
