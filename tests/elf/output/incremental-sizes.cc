//# about: functions that grow and shrink are relinked, with their frames, exception tables, lines and variables: the program is that of a full link with the same rooms, debuggers and verifiers read it, exceptions fly through it, and what outgrows its room is a full link
//# only: weld -- others do not relink
//# matrix: kind=pie,shared cc=gcc
//# sh: CC={cc} KIND={kind} bash relink.sh
#include <cstdio>
#include <stdexcept>
#include <string>
#ifndef STEP
#define STEP 0
#endif
int plain(int);
int thrower(int);
int catcher(int);
static int scaled(int x) {
    int z = plain(4);
    int y = x * 3;
#if STEP >= 1
    z = y + 7;
    y = z * 2 - y;
#endif
#if STEP >= 3
    y += plain(2) * z;
    y -= plain(3) * z;
#endif
    return y + z;
}
int plain(int x) {
#if STEP == 2
    x = x * 5 - x / 7;
#endif
    return x + 1;
}
int thrower(int x) {
    std::string text = "thrown";
    for (int i = 0; i < x % 3; i++) text += "thrown";
#if STEP >= 2
    if (scaled(x) == 77) text += "thrown";
#endif
    if (x > 2) throw std::runtime_error(text);
    return scaled(x);
}
int catcher(int x) {
    try {
        std::string text = "thrown";
        int y = text.size();
#if STEP >= 1
        if (x > 5) { x += plain(x) * thrower(2); x -= 3 * plain(2); }
#endif
        return thrower(x) + y;
    } catch (std::exception &e) {
        std::printf("%s\n", e.what());
        return plain(x);
    }
}
#if STEP == 9
int plenty(int x) {
#define FOUR x += plain(x); x -= scaled(x); x *= plain(x + 1); x ^= 77;
    FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR
    return x;
}
#endif
//--- main.cc
#include <cstdio>
int catcher(int);
int main() {
    int first = catcher(1);
    std::printf("%d %d\n", first, catcher(7));
}
//--- relink.sh
case $CC in clang) cxx=clang++-22 ;; *) cxx=g++ ;; esac
driver="$cxx -B$LD_DIR -Wl,--build-id,--threads=2"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
compile() { $cxx -fPIC -std=c++17 -g -O0 -ffunction-sections -DSTEP=$1 -c work.cc -o work.o; }
case $KIND in shared) files='work.o -shared' out=libwork.so ;; *) files='main.o work.o -pie' out=out ;; esac
log=.$out.weld/log
run() { case $KIND in shared) LD_PRELOAD=./$1 ./main ;; *) ./$1 ;; esac }
link() { # STEP LOG
    compile $1
    sleep 0.05
    $driver $files -Wl,--incremental -o $out || exit 1
    tail -1 $log | grep -q "$2" || { echo "step $1:"; tail -2 $log; exit 1; }
    $driver $files -Wl,--incremental=verify -o $out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said $log; exit 1; }
    $driver $files -o plain || exit 1
    [ $KIND = pie ] || [ -e main ] || $driver main.o $out -Xlinker -rpath -Xlinker $PWD -o main || exit 1
    [ "$(run $out)" = "$(run plain)" ] || { echo "step $1: it says something else"; run $out; exit 1; }
    dwarfdump=$(command -v llvm-dwarfdump-22 || command -v llvm-dwarfdump) || return
    $dwarfdump --verify $out >verified 2>&1 || { echo "step $1: what debuggers read is wrong"; tail verified; exit 1; }
}
cp incremental-sizes.cc work.cc
$cxx -fPIC -g -O0 -c main.cc -o main.o
link 0 'full link: no state'
# A frame may need more operations than there is room for.
for step in 1 2 3 0 2 1; do link $step 'relinked: [0-9]\|unwind tables'; done
[ $(grep -c 'relinked: [0-9]' $log) -ge 3 ] || { echo 'few edits are relinked'; cat $log; exit 1; }
[ -e main ] || cp out main
cat > gdb.in <<'END'
set breakpoint pending on
break scaled
run
next
next
next
print z
backtrace 3
END
if gdb --version >/dev/null 2>&1; then
    gdb -q -batch -x gdb.in ./main >gdb.out 2>&1
    grep -q '^\$1 = 10' gdb.out && grep -q 'thrower (x=1)' gdb.out && grep -q 'catcher (x=1)' gdb.out || { cat gdb.out; exit 1; }
fi
link 9 'full link: in \|relinked: [0-9]'
