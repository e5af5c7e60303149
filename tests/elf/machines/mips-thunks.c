//# about: MIPS: code that is not position-independent calls functions that are, which want their address in a register: by thunks, also from both byte orders; jumps to others stay as they are
//# machines: mipsel mips
//# except: machine=x86-64
//# not: bfd mold lld -- those that are installed are for this machine's programs
//# obj: main.o = mips-thunks.c -O1 -mno-abicalls -fno-pic -fno-pie -G0
//# obj: pic.o = pic.c -O1 -fPIC
//# obj: other.o = other.c -O1 -mno-abicalls -fno-pic -fno-pie -G0
//# link: -e main -z execstack main.o pic.o other.o -o out
//# symbol: __LA25Thunk_pic type=FUNC
//# no-symbol: __LA25Thunk_plain
//# disasm: main => jal.*<__LA25Thunk_pic>
//# disasm: main => jal.*<plain>
int pic(int);
int plain(int);
int main(void) { return pic(1) + plain(2); }
//--- pic.c
static int value[2] = {4, 5};
int pic(int n) { return value[n & 1]++; }
//--- other.c
int plain(int n) { return n; }
