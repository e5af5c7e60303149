//# about: MIPS, n64: entries of the PLT and thunks to position-independent functions have all 64 bits of addresses
//# not: bfd mold lld -- GNU ld refuses such addresses, or cuts them off
//# matrix: base=default,0x10000000,0x7f12340000
//# sh: mips64el-linux-gnuabi64-gcc -O1 -mno-abicalls -fno-pic -mno-sym32 -c mips-far-plt.c -o main.o && mips64el-linux-gnuabi64-gcc -O1 -fPIC -c pic.c -o pic.o
//# sh: B=$(test {base} = default || echo -Wl,-Ttext-segment={base}); mips64el-linux-gnuabi64-gcc -B$LD_DIR -no-pie main.o pic.o $B -o out && test "$(qemu-mips64el -L /usr/mips64el-linux-gnuabi64 ./out)" = "42 again"
//# sh: B=$(test {base} = default || echo -Wl,-Ttext-segment={base}); mips64el-linux-gnuabi64-gcc -B$LD_DIR -static main.o pic.o $B -o fixed && test "$(qemu-mips64el ./fixed)" = "42 again"
#include <stdio.h>
int pic(int);
int main(int count, char **words) { printf("%d ", pic(count)); return puts("again") < 0; }
//--- pic.c
static int base = 41;
int pic(int x) { return base + x; }
