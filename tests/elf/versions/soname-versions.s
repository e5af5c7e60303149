//# about: a library without version script but with versions in its names
//# link: -shared soname-versions.o --version-script=v.map -soname foo
//# def-version: A
//# def-version: B
//# dynsym: x@@A
//# dynsym: y@@B
//# check: u16(addr(.gnu.version)) == 0
.globl x, y
x: ret
y: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
A { x; };
B { y; };
