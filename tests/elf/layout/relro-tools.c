//# about: other tools keep what RELRO and .bss need, whatever the page size, though memory between them has no bytes in the file
//# matrix: kind=pie,nopie,static,shared page=0x1000,0x10000 bind=lazy,now
//# [kind=shared] cflags: -fPIC
//# not: mold -- its 1.10 pads RELRO with nothing, which tools cut off
//# obj: main.o = main.c
//# [kind=shared] link: %shared relro-tools.o -o libx.so -z max-page-size={page} -z common-page-size={page} -z {bind}
//# [kind=shared] link: %pie main.o libx.so -o out
//# [!kind=shared] link: %{kind} relro-tools.o main.o -z max-page-size={page} -z common-page-size={page} -z {bind}
//# [kind=shared] in: libx.so
//# check: segend(GNU_RELRO) % {page} == 0
//# [weld|lld] check: segcount(LOAD) == 4
//# [weld|lld] check: segend(GNU_RELRO) == end(.relro_padding)
//# [weld|lld] check: addr(.data) >= segend(GNU_RELRO)
//# sh: for t in "strip" "strip -g" "objcopy --strip-all"; do for f in out libx.so; do test -e $f || continue; cp $f $f.kept; $t $f; done; ./out || exit 1; for f in out libx.so; do test -e $f || continue; mv $f.kept $f; done; done
//# sh: if command -v eu-elflint && test -e libx.so; then ! eu-elflint --gnu-ld libx.so | grep 'not fully contained'; fi
//# sh: if command -v eu-elflint && test {kind} = pie -o {kind} = nopie; then ! eu-elflint --gnu-ld out | grep 'not fully contained'; fi
#include <stdio.h>
int zero[1000], seven = 7;
int *const table[] = {&zero[10], &seven};
_Thread_local int local = 3, none[100];
int f(void) {
  zero[999] = 1;
  return printf("%d\n", *table[1] + *table[0] + local + none[5]) != 3;
}
//--- main.c
int f(void);
int main(void) { return f(); }
