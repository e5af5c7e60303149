//# about: a program for AArch64 is relinked, too, also with what gcc passes by default, as long as no instruction has to be moved for that
//# only: weld -- others do not relink
//# sh: bash relink.sh
extern "C" int printf(const char *, ...);
#ifdef PAGE
// The last instructions of a page, which some processors execute wrongly if the first one is as they take it.
asm(".section .text.page,\"ax\",@progbits\n.balign 4096\nat_page:\n.fill 1022, 4, 0xd503201f\n" PAGE
    "\nldr x1, [x1]\nldr x2, [x0, :lo12:table]\nret\n.previous");
#endif
#ifndef STEP
#define STEP 3
#endif
static thread_local int counter = 11;
int table[3] = {STEP, 2, 3};
struct Base { virtual int get() { return counter += STEP; } };
struct Derived : Base { int get() override { return table[counter % 3] * STEP; } };
int main(int argc, char **) {
    Base base;
    Derived derived;
    Base *list[] = {&base, &derived};
    try { if (argc < 9) throw STEP; } catch (int thrown) { counter += thrown; }
    printf("%d\n", list[argc % 2]->get() + counter);
}
//--- relink.sh
command -v aarch64-linux-gnu-g++ qemu-aarch64 >/dev/null || { echo 'no compiler here'; exit 0; }
cp incremental-aarch64.cc main.cc
compile() { aarch64-linux-gnu-g++ -g -O1 -fPIE "$@" -c main.cc; }
driver="aarch64-linux-gnu-g++ -B$LD_DIR"
link() { # WHAT LOG FLAGS...
    $driver "${@:3}" -Wl,--incremental main.o -o out || exit 1
    $driver "${@:3}" -Wl,--incremental=force-full main.o -o full || exit 1
    cmp out full || { echo "$1: another program than a full link gives"; exit 1; }
    tail -1 .out.weld/log | grep -q "$2" || { echo "$1:"; cat .out.weld/log; exit 1; }
    said=$(qemu-aarch64 -L /usr/aarch64-linux-gnu ./out) || { echo "$1: it does not run"; exit 1; }
}
compile; sleep 0.1
link first 'full link: no state'; first=$said
link again 'relinked: no input'
compile -DSTEP=5; link changed 'relinked: .* of 1 object'
[ "$said" != "$first" ] || { echo 'it says the same'; exit 1; }
aarch64-linux-gnu-nm out | grep __CortexA53 && { echo 'an instruction was moved'; exit 1; }
compile -DPAGE='"nop"'; link page 'full link: '
compile -DPAGE='"mov x0, x0"'; link same 'relinked: 1 section'
compile -DPAGE='"adrp x0, table"'
link wrong 'nothing is kept for the next link: instructions were moved'
grep -q 'full link: .*some processors execute wrongly' .out.weld/log || { cat .out.weld/log; exit 1; }
link without 'full link: ' -mno-fix-cortex-a53-843419
compile -DPAGE='"adrp x0, main"'; link without 'relinked: 1 section' -mno-fix-cortex-a53-843419
