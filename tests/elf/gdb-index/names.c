//# about: Where the compiler listed no names, the index has those that GDB's own has (which says only the first unit of most names); base types as the compiler spells them
//# matrix: cc=gcc,clang dwarf=2,3,4,5
//# cflags: -g -gdwarf-{dwarf}
//# link: %pie names.o other.o --gdb-index -o out
//# link: %pie names.o other.o -o plain
//# sh: export DEBUGINFOD_URLS=; mkdir -p own && gdb -nx -batch -ex 'save gdb-index own' plain && python3 dump.py out > all; python3 dump.py out first > ours && python3 dump.py own/plain.gdb-index first > theirs && diff ours theirs
//# file: all => gf g:function@0
//# [cc=gcc] file: all => sf s:function@0 s:function@1
//# file: all => enumerator1 s:variable@0 s:variable@1
#include "both.h"
struct cs { int a; union { int x; float y; } u; struct { int in; } named; struct inner { int z; } i; };
union cu { int a; };
int gv;
extern int declared;
int ext = 2;
const int arr[3] = {1, 2, 3};
static inline int il(int a) { return a + 1; }
int gf(int a) { struct local { int i; } l; l.i = a; return sf(l.i) + il(a) + declared; }
struct cs gs;
union cu gu;
int other(void);
int main(void) { return gf(3) + other() - 23; }
//--- other.c
#include "both.h"
int declared = 4;
static int sv = 3;
int other(void) { return sf(sv) + enumerator2; }
//--- both.h
enum both { enumerator1, enumerator2 };
typedef struct { int q; } unnamed;
enum both ge __attribute__((weak));
unnamed gt __attribute__((weak));
static int __attribute__((noinline)) sf(int a) { return a + 1; }
//--- dump.py
# Prints the names of a .gdb_index, in an ELF file or alone, and where they are.
import struct, sys
data = open(sys.argv[1], 'rb').read()
if data[:4] == b'\x7fELF':
    offset, count, names = struct.unpack_from('<Q', data, 40)[0], *struct.unpack_from('<HH', data, 60)
    headers = [struct.unpack_from('<IIQQQQ', data, offset + 64 * i) for i in range(count)]
    name = lambda h: data[headers[names][4] + h[0]:].split(b'\0', 1)[0]
    header = next(h for h in headers if name(h) == b'.gdb_index')
    data = data[header[4]:header[4] + header[5]]
words = struct.unpack_from('<7I', data)
pool = words[6] if words[0] >= 9 else words[5]
kinds = ['none', 'type', 'variable', 'function', 'other']
# GDB spells these in another way than GCC does.
spelled = {'long int': 'long', 'long unsigned int': 'unsigned long', 'short int': 'short',
           'short unsigned int': 'unsigned short', 'long long int': 'long long'}
lines = []
for slot in range(words[4], words[5], 8):
    name, vector = struct.unpack_from('<II', data, slot)
    if (name, vector) == (0, 0):
        continue
    text = data[pool + name:].split(b'\0', 1)[0].decode()
    count = struct.unpack_from('<I', data, pool + vector)[0]
    uses = struct.unpack_from(f'<{count}I', data, pool + vector + 4)
    shown = [f'{"s" if u >> 31 else "g"}:{kinds[u >> 28 & 7]}@{u & 0xffffff}' for u in uses]
    shown = shown[:1] if sys.argv[2:] else shown
    lines.append(f'{spelled.get(text, text)} {" ".join(shown)}')
print(*sorted(lines), sep='\n')
