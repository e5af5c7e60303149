//# about: a static program for s390x (64 bits, big endian) with IFUNCs, thread-local storage and merged strings runs
//# not: bfd mold -- those that are installed are for this machine's programs
//# matrix: opt=-O0,-O2
//# sh: s390x-linux-gnu-gcc {opt} -g -fno-pie -no-pie -static -B $LD_DIR s390x-static.c -o out && qemu-s390x ./out one two
//# stdout: 3 arguments, sorted: one two
//# stdout: counter 7 of 7, zero 0, main's 42
//# stdout: resolved at start: 6
//# stdout: sum 4950, 1.50
//# sh: llvm-readelf-22 -hrs out > facts; grep 'ELF64' facts && grep 'big endian' facts && grep 'IBM S/390' facts
//# sh: grep R_390_IRELATIVE facts && grep -E 'TLS +LOCAL +DEFAULT +[0-9]+ counter' facts
//# sh: printf 'int other(void) { static const char text[] = "another"; return text[2]; }' > other.c
//# sh: s390x-linux-gnu-gcc {opt} -g -fno-pie -c other.c s390x-static.c && $LD -m elf64_s390 -r other.o s390x-static.o -o joined.o
//# sh: s390x-linux-gnu-gcc -no-pie -static -B $LD_DIR joined.o -o out && qemu-s390x ./out one two
//# stdout: 3 arguments, sorted: one two
//# stdout: counter 7 of 7, zero 0, main's 42
//# stdout: resolved at start: 6
//# stdout: sum 4950, 1.50
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread volatile int counter = 7;
static __thread volatile long zero[100];
__thread int global = 41;

/* Its implementation is chosen at the start of the program. */
static int six(void) { return 6; }
static int (*resolver(void))(void) { return six; }
int chosen(void) __attribute__((ifunc("resolver")));

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* An initialized pointer, a table of functions, and constants that are merged. */
static int (*volatile called)(void) = chosen;
static const char *const names[] = {"counter", "zero", "main's"};

__attribute__((constructor)) static void before(void) { global++; }

int main(int argc, char **argv) {
    qsort(argv + 1, argc - 1, sizeof *argv, compare);
    printf("%d arguments, sorted: %s %s\n", argc, argv[1], argv[2]);
    printf("%s %d of 7, %s %ld, %s %d\n", names[0], counter, names[1], zero[99], names[2], global);
    printf("resolved at start: %d\n", called() == chosen() ? chosen() : 0);
    int *list = malloc(100 * sizeof *list), sum = 0;
    for (int i = 0; i < 100; i++) list[i] = i;
    for (int i = 0; i < 100; i++) sum += list[i];
    free(list);
    printf("sum %d, %.2f\n", sum, argc / 2.0);
    return 0;
}
