//# about: classes with virtual functions and type information, and instances of templates, that were there when the state was written go and come again with relinks: COMDAT groups with tables of pointers that the loader adds to, and of names that it looks up
//# only: weld -- others do not relink
//# matrix: how=gcc:pie,clang:pie,gcc:mixed
//# sh: IFS=: read CC KIND <<< {how}; CC=$CC KIND=$KIND bash relink.sh
#include <cstdio>
#include <typeinfo>
#include <vector>
#ifndef STEP
#define STEP 0
#endif
struct Point { int at[3]; };
struct Shape {
    virtual long size(long x) { return x + 1; }
    virtual ~Shape() {}
};
struct Square : Shape {
    long size(long x) override { return x * 3; }
};
#if STEP == 3
struct Round : Square {
    long size(long x) override { return x * 22 / 7; }
    virtual const char *name() { return "round"; }
};
#endif
long work(long n) {
    std::vector<int> all;
    for (long i = 0; i < n; i++) all.push_back(i * n);
#if STEP != 1
    std::vector<Point> points;
    points.push_back(Point{{int(n), 2, 3}});
    n += points[0].at[0] + points.size();
#endif
#if STEP != 2
    Shape *shape = n > 3 ? new Square : new Shape;
    n = shape->size(n) + (dynamic_cast<Square *>(shape) != nullptr);
    std::printf("%s\n", typeid(*shape).name());
    delete shape;
#endif
#if STEP == 3
    Round round;
    Shape &any = round;
    n += any.size(n);
    std::printf("%s %s\n", typeid(any).name(), round.name());
#endif
    return n + all.size();
}
//--- main.cc
#include <cstdio>
#include <vector>
long work(long);
struct Other {
    virtual long more(long x) { return x + 9; }
    virtual ~Other() {}
};
struct Another : Other {
    long more(long x) override { return x - 1; }
};
int main(int argc, char **argv) {
    std::vector<int> some{1, 2, argc};
    Other *other = argc > 4 ? new Other : new Another;
    for (long i = 0; i < 9; i += 4) std::printf("%ld %ld\n", work(i + argc), other->more(some[1]));
}
//--- relink.sh
case $CC in clang) cc=clang++-22; command -v $cc >/dev/null || cc=clang++; command -v $cc >/dev/null || exit 0 ;; *) cc=g++ ;; esac
driver="$cc -B$LD_DIR -Wl,--build-id"
[ $CC = clang ] && driver="$driver --ld-path=$LD_DIR/ld"
[ $KIND = mixed ] && mode=-no-pie || mode=-pie
compile() { $cc -fPIE -g -O0 $2 -c $1.cc -o $1.o || exit 1; }
link() { # STEP LOG
    compile work -DSTEP=$1
    sleep 0.05
    $driver $mode main.o work.o -Wl,--incremental -o out || exit 1
    tail -1 .out.weld/log | grep -q "$2" || { echo "step $1:"; tail -2 .out.weld/log; exit 1; }
    $driver $mode main.o work.o -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $1: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $driver $mode main.o work.o -o plain || exit 1
    ./out >is && ./plain >wanted || { echo "step $1: it does not run"; exit 1; }
    cmp is wanted || { echo "step $1: it says something else"; cat is; exit 1; }
    [ "$(nm -C out | grep -c Square)" = "$(nm -C plain | grep -c Square)" ] || { echo "step $1: other symbols"; exit 1; }
}
cp incremental-classes.cc work.cc
compile main
link 0 'full link: no state'
for step in 1 0 2 0; do link $step 'relinked: [0-9]'; done
# A class that is new may ask for room that so small a program has not.
link 3 'link'
link 0 'link'
# Written anew, it is no other.
touch main.o work.o
sleep 0.05
$driver $mode main.o work.o -Wl,--incremental -o out || exit 1
tail -1 .out.weld/log | grep -q 'relinked: no input has changed$' || { tail -1 .out.weld/log; exit 1; }
exit 0
