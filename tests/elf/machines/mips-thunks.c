//# about: MIPS: code that is not position-independent calls functions that are, which want their address in a register: by thunks, also from both byte orders; jumps to others stay as they are
//# machines: mipsel mips
//# except: machine=x86-64
//# not: bfd mold -- those that are installed are for this machine's programs
//# cflags: -O1 -mno-abicalls -G0
//# obj: pic.o = pic.c -O1 -fPIC
//# obj: other.o = other.c -O1 -mno-abicalls -G0
//# [weld] link: -e main -z execstack mips-thunks.o pic.o other.o -o out
//# [weld] warning: .
//# [lld] link: -e main -z execstack mips-thunks.o pic.o other.o -o out
//# [weld] symbol: __LA25Thunk_pic type=FUNC
//# [weld] no-symbol: __LA25Thunk_plain
//# [weld] disasm: main => jal.*<__LA25Thunk_pic>
//# [weld] disasm: main => jal.*<plain>
int pic(int);
int plain(int);
int main(void) { return pic(1) + plain(2); }
//--- pic.c
static int value[2] = {4, 5};
int pic(int n) { return value[n & 1]++; }
//--- other.c
int plain(int n) { return n; }
