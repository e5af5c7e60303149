//# about: --default-symver: what has no version gets one that is called as the output is
//# not: lld -- it has no such option
//# not: mold -- 1.10 has not either
//# link: -shared default-symver.o --default-symver
//# dynsym: foo@@out
//# def-version: out
//# link: -shared default-symver.o --default-symver -soname libq.so.1
//# dynsym: foo@@libq.so.1
//# link: -shared default-symver.o --default-symver -soname libq.so.1 --version-script=v.map
//# dynsym: foo@@V1
//# dynsym: bar@@libq.so.1
//# def-version: V1
//# no-dynsym: hidden
//# link: -shared default-symver.o --default-symver --version-script=anonymous.map
//# dynsym: foo@@out
//# no-dynsym: bar
//# [weld] link: -shared default-symver.o --default-symver -soname V1 --version-script=v.map
//# [weld] dynsym: foo@@V1
//# [weld] dynsym: bar@@V1
.globl foo, bar, hidden
foo: ret
bar: ret
hidden: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { foo; local: hidden; };
//--- anonymous.map
{ foo; local: *; };
