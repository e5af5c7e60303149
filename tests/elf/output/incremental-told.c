//# about: what knows where a function or a constant is that moves, by other ways than a relocation to it: aliases that the command line makes, pointers of an object whose own definition lost, odd places of packed relocations, personality routines, names of merged pieces, sizes in the table for the loader
//# only: weld -- others do not relink
//# matrix: case=alias,losing,weak,packed,personality,piece,sizes
//# sh: CASE={case} bash relink.sh
#ifndef N
#define N 0
#endif
int pad(int x) {
#if N
    x = x * 7 + 3;
    x ^= x >> 2;
    x += x / 3;
#endif
    return x;
}
int g(int x) { return x + 200; }
const int before[] = {1, 2, 3,
#if N
                      4, 5, 6, 7,
#endif
};
const int hook[4] = {42, 43, 44, 45};
int fn(void) { return before[1]; }
struct __attribute__((packed)) entry {
    char c;
    int (*f)(int);
};
struct entry tab[] = {{1, pad}, {2, g}};
//--- alias.c
#include <stdio.h>
int alias(int);
int (*volatile p)(int) = alias;
int main() { printf("%d %d\n", p(1), alias(1)); }
//--- losing.c
#include <stdio.h>
int hook[4];
int *volatile p = hook;
int main() { printf("%d\n", *p); }
//--- weak.c
#include <stdio.h>
__attribute__((weak, section("hooks"))) int g(int x) { return x + 1; }
typedef int (*function)(int);
function volatile table[] = {g};
int main() { printf("%d\n", table[0](1)); }
//--- packed.c
#include <stdio.h>
struct __attribute__((packed)) entry {
    char c;
    int (*f)(int);
};
extern struct entry tab[];
int g(int);
struct entry other[] = {{5, g}};
int main() {
    struct entry *volatile p = tab, *volatile q = other;
    printf("%d %d %d\n", p[0].f(0), p[1].f(1), q[0].f(2));
}
//--- routine.c
#include <stdio.h>
#include <unwind.h>
int pad(int x) {
#if N
    x = x * 7 + 3;
    x ^= x >> 2;
    x += x / 3;
#endif
    return x;
}
_Unwind_Reason_Code __gcc_personality_v0(int v, _Unwind_Action a, _Unwind_Exception_Class c, struct _Unwind_Exception *e,
                                         struct _Unwind_Context *x) {
    puts("mine");
    return _URC_CONTINUE_UNWIND;
}
//--- personality.c
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>
static struct _Unwind_Exception e;
__attribute__((noinline)) void thrower(void) {
    _Unwind_RaiseException(&e);
    puts("end of stack");
    fflush(stdout);
    exit(0);
}
static void cl(int *p) { puts("cleanup"); }
void f(void) {
    int x __attribute__((cleanup(cl))) = N;
    thrower();
}
int main() { f(); }
//--- pieces.S
.section .rodata.str1.1,"aMS",@progbits,1
.Lb: .asciz "abc"
.asciz "def"
.globl s
.type s,@object
.size s,4
#if N
.set s,.Lb+4
#else
.set s,.Lb
#endif
.section .note.GNU-stack,"",@progbits
//--- piece.c
#include <stdio.h>
extern const char s[];
const char *volatile p = s;
int main() {
    puts(s);
    puts(p);
}
//--- sizes.S
.section .mytext,"ax"
.globl f,g
.type f,@function
.type g,@function
f: lea 1(%rdi),%eax
#if N
nop
nop
#endif
ret
.size f,.-f
.p2align 4
g: lea 2(%rdi),%eax
ret
.size g,.-g
.section .note.GNU-stack,"",@progbits
//--- relink.sh
cp incremental-told.c work.c
one=work.c pic=-fPIE kind=-pie extra= other="$CASE.c"
case $CASE in
    alias) extra='-Wl,--defsym=alias=g' ;;
    packed) extra='-Wl,-z,pack-relative-relocs' ;;
    personality) one=routine.c pic='-fno-pie -fexceptions' kind=-no-pie ;;
    piece) one=pieces.S ;;
    sizes) one=sizes.S kind=-shared other= ;;
esac
# Where names are exported there is room for more.
run() { case $CASE in sizes) readelf --dyn-syms -W $1 | awk '$8 == "f" || $8 == "g" { print $3, $4, $8 }' ;; *) ./$1 ;; esac }
for step in 0 1 0 1; do
    gcc $pic -DN=$step -c $one -o one.o || exit 1
    # The object with the routine changes, and so does the one that names it.
    [ -z "$other" ] || [ -e other.o -a $CASE != personality ] || gcc $pic -fcommon -DN=$step -c $other -o other.o || exit 1
    sleep 0.05
    link="gcc -B$LD_DIR $kind one.o ${other:+other.o} $extra"
    $link -Wl,--incremental -o out || exit 1
    run out >relinked
    $link -Wl,--incremental=verify -o out 2>said || exit 1
    [ ! -s said ] || { echo "step $step: another program than a full link gives"; cat said .out.weld/log; exit 1; }
    $link -o plain || exit 1
    run plain >full
    cmp relinked full || { echo "step $step: it says something else"; cat relinked; tail -2 .out.weld/log; exit 1; }
done
