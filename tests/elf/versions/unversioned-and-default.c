//# about: a library with foo and foo@@V2, whichever it lists first: programs get foo@@V2, which weld lists first
//# not: lld mold -- they refuse foo@ or drop it
//# cflags: -fPIC
//# link: %shared unversioned-and-default.o --version-script=v.map -o liba.so
//# dynsym: foo@@V2
//# dynsym: foo
//# readelf: --dyn-syms => (?s)foo@@V2\n.* foo\n
//# [weld|bfd] readelf: -V => 1h
//# obj: main.o = main.c
//# link: %pie main.o liba.so
//# dynsym: foo@V2
//# run: ./out
// Weak ones are as well two definitions.
//# obj: weak.o = weak.c -fPIC
//# link: %shared weak.o --version-script=v.map -o libweak.so
//# readelf: --dyn-syms => (?s)foo@@V2\n.* foo\n
//# obj: weak-default.o = weak.c -fPIC -DOLD=
//# link: %shared weak-default.o --version-script=v.map -o libweak.so
//# readelf: --dyn-syms => (?s)foo@@V2\n.* foo\n
//# link: %pie main.o libweak.so
//# run: ./out
// The other way round, as by other linkers.
//# sh: python3 swap.py liba.so
//# in: liba.so
//# readelf: --dyn-syms => (?s) foo\n.*foo@@V2\n
//# [weld|gold] link: %pie main.o liba.so
//# [weld|gold] dynsym: foo@V2
int foo_old(void) { return 1; }
__asm__(".symver foo_old,foo@");
int foo_new(void) { return 0; }
__asm__(".symver foo_new,foo@@V2");
//--- weak.c
#define WEAK __attribute__((weak))
#ifndef OLD
#define OLD WEAK
#endif
OLD int foo_old(void) { return 1; }
__asm__(".symver foo_old,foo@");
WEAK int foo_new(void) { return 0; }
__asm__(".symver foo_new,foo@@V2");
//--- main.c
int foo(void);
int main(void) { return foo(); }
//--- v.map
V2 { global: bar; };
//--- swap.py
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
shoff, = struct.unpack_from('<Q', data, 40)
count, = struct.unpack_from('<H', data, 60)
headers = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + 64 * i) for i in range(count)]
dynsym = next(h for h in headers if h[1] == 11)
versym = next(h for h in headers if h[1] == 0x6fffffff)
strings = headers[dynsym[6]][4]
def name(i):
    at = strings + struct.unpack_from('<I', data, dynsym[4] + 24 * i)[0]
    return data[at:data.index(0, at)]
a, b = [i for i in range(dynsym[5] // 24) if name(i) == b'foo']
for start, size in ((dynsym[4], 24), (versym[4], 2)):
    x, y = (slice(start + size * i, start + size * (i + 1)) for i in (a, b))
    data[x], data[y] = data[y], data[x]
open(sys.argv[1], 'wb').write(data)
