//# about: --version-symbols: a version is an absolute symbol, too, as GNU ld writes it and dpkg-gensymbols wants it; weld does it unless it is called ld.lld or ld.mold
//# only: weld -- its option
//# link: -shared version-symbols.o --version-script=v.map --version-symbols
//# dynsym: V1@@V1 type=OBJECT bind=GLOBAL section=ABS value=0
//# dynsym: V2@@V2 section=ABS
//# dynsym: foo@@V1
//# dynsym: V3@@V3 section=.text
//# link: -pie version-symbols.o --version-script=v.map --version-symbols
//# dynsym: V1@@V1 section=ABS
//# no-dynsym: foo
//# link: version-symbols.o --version-script=v.map --version-symbols
//# no-dynsym: V1
//# link: -shared version-symbols.o --version-script=anonymous.map --version-symbols
//# no-dynsym: V1
//# link: -shared version-symbols.o --version-script=v.map --no-version-symbols
//# no-dynsym: V1
//# link: -shared provider.o -o provider.so
//# link: -shared reference.o provider.so --version-script=v.map --version-symbols
//# dynsym: V1 section=UND
//# dynsym: V2@@V2 section=ABS
//# fail: -shared reference.o --version-script=v.map --version-symbols -z defs
//# error: undefined symbol: V1
//# sh: for n in ld.bfd x86_64-linux-gnu-ld; do ln -sf $LD_DIR/ld $n; done && ln -sf $LD_DIR/ld ld
//# sh: for n in ld ld.bfd x86_64-linux-gnu-ld; do ./$n -shared version-symbols.o --version-script=v.map -o $n.so && llvm-readelf-22 --dyn-syms $n.so > $n.txt && grep 'ABS V2@@V2' $n.txt || exit 1; done
//# sh: $LD_DIR/ld.lld -shared version-symbols.o --version-script=v.map -soname=x -o lld.so && $LD_DIR/ld -shared version-symbols.o --version-script=v.map -soname=x --no-version-symbols --spare-dynamic-tags=0 -o no.so
//# same: lld.so no.so
//# sh: $LD_DIR/ld -shared version-symbols.o --version-script=v.map -o a.so --reproduce=r.tar && tar xf r.tar && cd r && $LD_DIR/ld.lld @response.txt && cmp a.so ../a.so
.globl foo, V3, _start
_start: ret
foo: ret
V3: ret
.section .note.GNU-stack,"",@progbits
//--- provider.s
.globl V1
.type V1, @function
V1: ret
.section .note.GNU-stack,"",@progbits
//--- reference.s
.globl foo, V3
foo: call V1@PLT
V3: ret
.section .note.GNU-stack,"",@progbits
//--- v.map
V1 { foo; local: *; };
V2 { } V1;
V3 { V3; };
//--- anonymous.map
{ foo; local: *; };
