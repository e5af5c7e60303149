//# about: functions that are the same are one, with their tables for unwinding; data only if nobody compares its address
//# cxxflags: -O2 -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti -std=c++17 -faddrsig
//# link: fold.obj other.obj /entry:entry /subsystem:console /nodefaultlib
//# run:
//# exit: 67
//# sh: sizes() { llvm-readobj-22 --sections $1 | grep -E 'Name|VirtualSize'; }; \
//#     for opt in icf safeicf noicf; do \
//#       lld-link-22 fold.obj other.obj /entry:entry /subsystem:console /nodefaultlib /opt:$opt /opt:nolldtailmerge /out:lld-$opt.exe; \
//#       $LD -flavor link fold.obj other.obj /entry:entry /subsystem:console /nodefaultlib /opt:$opt /out:own-$opt.exe; \
//#       cmp <(sizes lld-$opt.exe) <(sizes own-$opt.exe); done; cmp out.exe own-icf.exe; cmp <(sizes own-icf.exe) <(sizes own-noicf.exe) && exit 1; true
//# link: fold.obj other.obj /entry:entry /subsystem:console /nodefaultlib /verbose /out:said.exe
//# once
//# warning: (?s)Selected \?\?\$twice.*\n  Removed \?\?\$twice
//# link: fold.obj other.obj /entry:entry /subsystem:console /nodefaultlib /debug /opt:ref,icf /out:debug.exe
//# run: debug.exe
//# exit: 67
//# sh: llvm-pdbutil-22 dump -publics debug.pdb > all; one=$(grep -A 1 'S_PUB32.*`?ping' all | grep -o 'addr = [0-9:]*'); \
//#     other=$(grep -A 1 'S_PUB32.*`?pang' all | grep -o 'addr = [0-9:]*'); [ "$one" ] && [ "$one" = "$other" ]
//# link: fold.obj other.obj /entry:entry /subsystem:console /nodefaultlib /debug /out:kept.exe
//# sh: llvm-pdbutil-22 dump -publics kept.pdb > all; one=$(grep -A 1 'S_PUB32.*`?ping' all | grep -o 'addr = [0-9:]*'); \
//#     other=$(grep -A 1 'S_PUB32.*`?pang' all | grep -o 'addr = [0-9:]*'); [ "$one" ] && [ "$one" != "$other" ]
using Function = int (*)(int);
int elsewhere(int);
template <class T> __attribute__((noinline)) T twice(T value) { return elsewhere((int)value) + 2 * value; }
// A circle, twice.
int pang(int);
__attribute__((noinline)) int ping(int n) { return n <= 0 ? 1 : pang(n - 1) + 1; }
__attribute__((noinline)) int pang(int n) { return n <= 0 ? 1 : ping(n - 1) + 1; }
// The same but for what they lead to.
int one, two;
__attribute__((noinline)) int read_one() { return one + 1; }
__attribute__((noinline)) int read_two() { return two + 1; }
// Nobody compares their addresses, and somebody does.
extern const int quiet_a[4], quiet_b[4], loud_a[4], loud_b[4];
const int quiet_a[4] = {1, 2, 3, 4}, quiet_b[4] = {1, 2, 3, 4};
__declspec(selectany) extern const int loud_a[4] = {5, 6, 7, 8}, loud_b[4] = {5, 6, 7, 8};
const int *volatile compared;
extern "C" int entry() {
  one = 10;
  two = 20;
  compared = loud_a;
  bool different = compared != loud_b;
  return twice(1) + (int)twice(2L) + ping(3) + pang(3) + read_one() + read_two() + (different ? 16 : 0) + quiet_a[1] - quiet_b[1];
}
//--- other.cc
int elsewhere(int value) { return value + 1; }
