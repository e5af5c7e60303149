//# about: PT_GNU_RELRO covers what is constant after relocation: with -z now the PLT's GOT too
//# matrix: kind=pie,nopie,static-pie bind=lazy,now
//# link: %{kind} relro.o -z {bind}
//# segment: GNU_RELRO flags=R
//# check: seg(GNU_RELRO) <= addr(.dynamic) < segend(GNU_RELRO)
//# check: seg(GNU_RELRO) <= addr(.data.rel.ro) < segend(GNU_RELRO)
//# check: addr(.data) >= segend(GNU_RELRO)
//# run: ./out
//# stdout: 3
//# link: %{kind} relro.o -z norelro -o no
//# no-segment: GNU_RELRO
//# run: ./no
#include <stdio.h>
int x = 3;
int *const table[] = {&x, &x};
int main(void) { printf("%d\n", *table[1]); return 0; }
