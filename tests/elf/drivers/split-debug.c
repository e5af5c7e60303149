//# about: objcopy, strip and gdb work on what was linked
//# matrix: cc=gcc,clang
//# cflags: -g -O0
//# link: %pie split-debug.o --build-id
//# sh: objcopy --only-keep-debug out out.debug && strip -s out -o out.stripped && objcopy --add-gnu-debuglink=out.debug out.stripped && ./out.stripped && llvm-strip-22 out -o out.llvm && ./out.llvm
//# sh: llvm-dwarfdump-22 --verify out
//# sh: command -v gdb >/dev/null || exit 0; gdb -batch -ex 'break answer' -ex run -ex bt ./out 2>&1 | grep -E '#1 .* main .*split-debug.c'
__attribute__((noinline)) int answer(int n) { __asm__ volatile(""); return n - 42; }
int main(void) { int r = answer(42); return r; }
