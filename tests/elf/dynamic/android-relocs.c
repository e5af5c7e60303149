//# about: --pack-dyn-relocs=android: a program that reads Android's packed relocations itself finds every pointer relocated
//# only: weld lld -- the others have no such option
//# matrix: how=android,android+relr,none
//# cflags: -fPIE -O1 -fno-stack-protector -ffreestanding -fno-builtin -fcf-protection=none
//# obj: lib.o = lib.c -fPIC
//# link: -pie --no-dynamic-linker android-relocs.o --pack-dyn-relocs={how}
//# run: ./out
//# [how=none] exit: 0
//# [how=android|android+relr] exit: 7
//# [how=android] readelf: -SW => rela.dyn *ANDROID_RELA
//# [how=android+relr] readelf: -SW => relr.dyn *RELR
//# [how=android+relr] dynamic: RELRENT 8
//# [how=android|android+relr] no-dynamic: RELA
//# [how=android|android+relr] no-dynamic: RELACOUNT
//# [how=android|android+relr] dynamic: RELAENT 24
//# sh: llvm-readobj-22 -r out | grep -c RELATIVE
//# stdout: 121
// By its old name, RELR has its own type and tags.
//# [how=android+relr] link: -pie --no-dynamic-linker android-relocs.o --pack-dyn-relocs=android+relr --use-android-relr-tags -o old
//# [how=android+relr] no-dynamic: RELR
//# [how=android+relr] sh: llvm-readelf-22 -Sd old | grep -c 'relr.dyn *ANDROID_RELR\|(ANDROID_RELR)\|(ANDROID_RELRSZ)\|(ANDROID_RELRENT)'
//# [how=android+relr] stdout: 4
// A shared object has others than relative ones; what is read back is the same however it is packed.
//# link: -shared lib.o --pack-dyn-relocs={how} -o lib.so
//# sh: llvm-readobj-22 -r --expand-relocs lib.so | grep -c R_X86_64
//# stdout: 58
// Those of the PLT are not packed.
//# [how=android] reloc: * count=2
//# [how=android] link: -shared lib.o --pack-dyn-relocs=none -o plain.so
//# [how=android] sh: for f in lib.so plain.so; do llvm-readobj-22 -r --expand-relocs $f | grep 'Type:\|Symbol:' | sort | uniq -c | md5sum; done | uniq | wc -l
//# [how=android] stdout: 1
typedef unsigned long word;
#define N 100
static int target[N];
#define P(i) &target[i], &target[(i) * 7 % N], &target[N - 1 - (i)], &target[(i) + 1]
#define P4(i) P(i), P((i) + 1), P((i) + 2), P((i) + 3)
/* Neighbours, and some that are alone. */
int *volatile table[] = { P4(0), P4(5), P4(10), P4(20), P4(30), P4(40), P4(50) };
struct { char gap[9]; int *p; } __attribute__((packed)) odd[3] = { { "", &target[1] }, { "", &target[2] }, { "", &target[3] } };
struct { char gap[88]; int *volatile p; } apart[6] = { { "", &target[4] }, { "", &target[5] }, { "", &target[6] }, { "", &target[7] }, { "", &target[8] }, { "", &target[9] } };
extern char __ehdr_start[] __attribute__((visibility("hidden")));
extern struct { long tag; word value; } dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

static long sleb(unsigned char **at) {
  long value = 0;
  int shift = 0;
  unsigned char byte;
  do {
    byte = *(*at)++;
    value |= (word)(byte & 127) << shift;
    shift += 7;
  } while (byte & 128);
  if (shift < 64 && byte & 64) value |= -1UL << shift;
  return value;
}

static int relocate(word base) {
  unsigned char *packed = 0;
  word *relr = 0, relr_size = 0;
  int done = 0;
  for (int i = 0; dynamic[i].tag; i++) {
    if (dynamic[i].tag == 0x60000011) packed = (unsigned char *)(base + dynamic[i].value);
    if (dynamic[i].tag == 36) relr = (word *)(base + dynamic[i].value);
    if (dynamic[i].tag == 35) relr_size = dynamic[i].value;
  }
  if (packed) {
    if (packed[0] != 'A' || packed[1] != 'P' || packed[2] != 'S' || packed[3] != '2') return 0;
    packed += 4;
    long left = sleb(&packed), offset = sleb(&packed), info = 0, addend = 0;
    done |= 1;
    while (left > 0) {
      long size = sleb(&packed), flags = sleb(&packed), step = 0;
      if (flags & 2) step = sleb(&packed);
      if (flags & 1) info = sleb(&packed);
      if (flags & 8 && flags & 4) addend += sleb(&packed);
      if (!(flags & 8)) addend = 0;
      for (long i = 0; i < size; i++) {
        offset += flags & 2 ? step : sleb(&packed);
        if (!(flags & 1)) info = sleb(&packed);
        if (flags & 8 && !(flags & 4)) addend += sleb(&packed);
        if (info != 8) return 0;
        *(word *)(base + offset) = base + addend;
      }
      left -= size;
    }
  }
  word *where = 0;
  for (; relr_size; relr_size -= 8, relr++) {
    if (!(*relr & 1)) {
      where = (word *)(base + *relr);
      *where++ += base;
      continue;
    }
    for (int i = 0; i < 63; i++)
      if (*relr >> (i + 1) & 1) where[i] += base;
    where += 63;
  }
  return done;
}

static int check(void) {
  static const int starts[] = { 0, 5, 10, 20, 30, 40, 50 };
  int at = 0;
  for (int s = 0; s < 7; s++)
    for (int k = 0; k < 4; k++) {
      int i = starts[s] + k;
      if (table[at++] != &target[i] || table[at++] != &target[i * 7 % N]) return 0;
      if (table[at++] != &target[N - 1 - i] || table[at++] != &target[i + 1]) return 0;
    }
  for (int i = 0; i < 3; i++)
    if (*(int *volatile *)((char *)odd + 17 * i + 9) != &target[1 + i]) return 0;
  for (int i = 0; i < 6; i++)
    if (apart[i].p != &target[4 + i]) return 0;
  return 7;
}

void _start(void) {
  int code = relocate((word)__ehdr_start) ? check() : 0;
  __asm__ volatile("syscall" : : "a"(60), "D"(code));
}
//--- lib.c
extern int a, b, c(void);
int *const p[] = { &a, &b, &a, &a + 1, &a + 2, &b, &b, &b, &b };
int d[9];
int *const q[] = { d, d + 1, d + 2, d + 3 };
static int s[40];
int *const r[] = {
#define R(i) s + (i), s + (i) + 1, s + (i) + 2, s + (i) + 3, s + (i) + 4
  R(0), R(1), R(20), R(11), R(5), R(6), R(7), R(30) };
__thread int t;
static __thread int u = 3;
int get(void) { return t + u + a + c(); }
