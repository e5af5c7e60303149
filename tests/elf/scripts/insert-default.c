//# about: INSERT and PHDRS beside the default layout, and the default layout as a script
//# matrix: kind=pie,nopie,static
//# machines: aarch64
//# not: mold -- it reads no SECTIONS
//# not: bfd -- in which scripts of other names and places are the default
//# link: %{kind} insert-default.o -T insert.ld -o out
//# run:
//# stdout: ctor
//# stdout: hello 5 10
//# order: .text .data .table .bss
//# check: align(.table) == 64
//# segment: GNU_RELRO count=1
//# segment: LOAD flags=RW count=2
//# [weld kind=pie,nopie] link: %{kind} insert-default.o -T both.ld -o out
//# [weld kind=pie,nopie] run:
//# [weld kind=pie,nopie] stdout: ctor
//# [weld kind=pie,nopie] stdout: hello 5 10
//# [weld kind=pie,nopie] order: .before .table .again .bss
//# [weld !kind=static !machine=aarch64] link: %{kind} plain.o -o plain
//# [weld kind=pie !machine=aarch64] sh: $LD --print-default-script -pie > default.ld
//# [weld kind=nopie !machine=aarch64] sh: $LD --print-default-script > default.ld
//# [weld !kind=static !machine=aarch64] link: %{kind} plain.o -T default.ld -o scripted
//# [weld !kind=static !machine=aarch64] same: plain scripted
//# [weld] fail: insert-default.o -T nowhere.ld
//# [weld] error: nowhere\.ld:1:\d+: INSERT beside \.nowhere: there is no such output section
//# [weld] fail: -r insert-default.o -T insert.ld
//# [weld] error: INSERT, OVERWRITE_SECTIONS and PHDRS without SECTIONS are not supported with -r
#include <stdio.h>
__thread int t = 5;
extern int table_start[], table_end[];
__attribute__((section(".table"))) int x[4] = {1, 2, 3, 4};
__attribute__((constructor)) void c(void) { puts("ctor"); fflush(stdout); }
int main() {
  int sum = 0;
  for (int *p = table_start; p < table_end; p++)
    sum += *p;
  printf("hello %d %d\n", t, sum);
}
//--- plain.c
#include <stdio.h>
__thread int t = 5;
__attribute__((constructor)) void c(void) { puts("ctor"); }
int main() { printf("hello %d\n", t); }
//--- insert.ld
SECTIONS { .table : ALIGN(64) { table_start = .; *(.table) table_end = .; } } INSERT AFTER .data;
//--- both.ld
SECTIONS { .table : { table_start = .; *(.table) table_end = .; } } INSERT BEFORE .bss;
SECTIONS { .again : { LONG(1) } } INSERT AFTER .table;
SECTIONS { .before : { LONG(2) } } INSERT BEFORE .table;
//--- nowhere.ld
SECTIONS { .table : { *(.table) } } INSERT AFTER .nowhere;
