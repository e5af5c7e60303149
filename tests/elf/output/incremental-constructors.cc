//# about: variables with constructors come and go in relinks, also the first ones of an object, with their debug information; constructors run in the order of objects, as ever
//# only: weld -- others do not relink
//# matrix: how=g++:-O0,clang++-22:-O2,g++:-g,clang++-22:-gsplit-dwarf,g++:-gz,clang++-22:-gdwarf-4,g++:-shared,aarch64-linux-gnu-g++:-O1
//# sh: IFS=: read CC KIND <<< {how}; CC=$CC KIND=$KIND bash relink.sh
#include <cstdio>
#include <string>
#ifndef COUNT
#define COUNT 0
#endif
namespace {
struct Noted {
    std::string name;
    explicit Noted(const char *what) : name(std::string(what) + " of " NAME) { std::printf("%s\n", name.c_str()); }
    ~Noted() { std::printf("no more %s\n", name.c_str()); }
};
#if COUNT > 0
Noted first("first");
#endif
#if COUNT > 1
Noted second("second");
#endif
}
#define JOIN(a, b) a##b
#define FUNCTION(name) JOIN(function_, name)
int FUNCTION(ID)(int n) {
#if COUNT > 0
    n += first.name.size();
#endif
#if COUNT > 1
    n += second.name.size();
#endif
    return n + 1;
}
#ifdef MAIN
int function_b(int), function_c(int), function_d(int);
int MAIN() { return function_b(1) + function_c(1) + function_d(1) == 0; }
#endif
//--- use.cc
int in_library();
int main() { return in_library(); }
//--- relink.sh
flags=-O1 link= main=main run=
case $KIND in -O*) flags=$KIND ;; -g*) flags="-g $KIND" ;; -shared) flags='-O1 -fPIC' main=in_library ;; esac
case $CC in aarch64*) run='qemu-aarch64 -L /usr/aarch64-linux-gnu' ;; esac
compile() { # OBJECT COUNT
    local more=
    [ $1 != a ] || more=-DMAIN=$main
    $CC $flags -DID=$1 -DNAME="\"$1\"" -DCOUNT=$2 $more -x c++ -c incremental-constructors.cc -o $1.o
    echo $2 > $1.count
}
program() {
    [ $KIND = -shared ] || { echo ./out; return; }
    $CC use.cc ./out -o program && echo ./program
}
link() { # LOG FLAGS...
    [ $KIND != -shared ] || link=-shared
    # What objects other than the changed ones have is not written again.
    $CC -B$LD_DIR $link "${@:2}" -Wl,--incremental b.o c.o d.o a.o -o out || exit 1
    $CC -B$LD_DIR $link "${@:2}" -Wl,--incremental=verify b.o c.o d.o a.o -o out 2>&1 | tee said
    [ ! -s said ] || exit 1
    grep -q "$1" .out.weld/log || { echo "not: $1"; cat .out.weld/log; exit 1; }
    $run $(program) > printed
    for object in b c d a; do
        [ $(< $object.count) -lt 1 ] || echo "first of $object"
        [ $(< $object.count) -lt 2 ] || echo "second of $object"
    done > wanted
    grep -v '^no more' printed | cmp - wanted || { echo 'others were made, or in another order:'; cat printed; exit 1; }
    [ $(grep -c '^no more' printed) = $(grep -c . wanted) ] || { echo 'others went'; cat printed; exit 1; }
    case $KIND in -g*)
        # What there is to say of debug information is what there is of any link.
        $CC -B$LD_DIR b.o c.o d.o a.o -o plain
        for program in out plain; do llvm-dwarfdump-22 --verify $program | grep occurred | sort > $program.wrong; done
        cmp out.wrong plain.wrong || { cat out.wrong; exit 1; }
        gdb -batch -ex 'info line function_b' out > asked 2>&1
        grep -q 'starts at address' asked || { cat asked; exit 1; }
    esac
    : > .out.weld/log
}
for object in a:1 b:0 c:1 d:0; do compile ${object%:*} ${object#*:}; done
link 'full link: no state'
for edit in b:1 b:2 d:1 c:0 b:0 c:2 d:0; do
    compile ${edit%:*} ${edit#*:}; sleep 0.02
    link ' relinked: [1-9]'
done
