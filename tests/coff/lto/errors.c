//# about: what can go wrong with bitcode: other machines, symbols that are defined twice or nowhere, engines that are not there
//# obj: errors.obj = errors.c -O2 -flto
//# obj: same.obj = same.c -O2 -flto
//# obj: thin.obj = same.c -O2 -flto=thin
//# obj: native.obj = same.c -O2
//# obj: x86.obj = same.c -O2 -flto --target=i686-pc-windows-msvc
//# obj: linux.obj = same.c -O2 -flto --target=x86_64-pc-linux-gnu
//# fail: errors.obj x86.obj /entry:start /subsystem:console
//# error: x86\.obj: machine type x86 conflicts with x64
//# fail: errors.obj linux.obj /entry:start /subsystem:console
//# error: linux\.obj: bitcode for x86_64-pc-linux-gnu
//# fail: errors.obj same.obj thin.obj /entry:start /subsystem:console
//# error: (?s)duplicate symbol: same.*defined at same\.c\n>>>\s+same\.obj.*defined at same\.c\n>>>\s+thin\.obj
//# fail: errors.obj same.obj native.obj /entry:start /subsystem:console
//# error: (?s)duplicate symbol: same.*same\.obj.*native\.obj
//# fail: errors.obj /entry:start /subsystem:console
//# error: (?s)undefined symbol: same.*referenced by errors\.c\n>>>\s+errors\.obj
//# fail: errors.obj same.obj /entry:start /subsystem:console /lto-engine:nowhere/LLVMgold.so
//# error: (?s)link-time optimisation: there is no LLVM.*nowhere/LLVMgold\.so
//# fail: errors.obj same.obj /entry:start /subsystem:console /opt:lldlto=5
//# error: /opt: lldlto: invalid optimisation level: 5
//# fail: errors.obj same.obj /entry:start /subsystem:console /opt:lldltojobs=foo
//# error: /opt: lldltojobs: invalid number of jobs: foo
//# fail: errors.obj same.obj /entry:start /subsystem:console /thinlto-prefix-replace:a
//# error: /thinlto-prefix-replace: expects 'old;new' format, but got a
// Assembly inside of a function names what no symbol table tells, so bitcode is wanted when it is too late.
//# obj: asm.obj = asm.c -O2 -flto
//# sh: llvm-lib-22 /out:same.lib same.obj
//# fail: asm.obj same.lib /entry:start /subsystem:console
//# error: (?s)same\.lib\(same\.obj\): has to be compiled, but is wanted only by what has been compiled.*for 'same'
//# sh: cp errors.obj cut.obj; truncate -s 900 cut.obj
//# fail: cut.obj same.obj /entry:start /subsystem:console
//# error: cut\.obj: 
int same(void);
int start(void) { return same(); }
//--- same.c
int same(void) { return 1; }
//--- asm.c
int start(void) {
  __asm__ volatile("call same");
  return 0;
}
