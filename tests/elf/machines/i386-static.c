//# about: a static program for i386 (32 bits, addends in the places that relocations apply to) with IFUNCs, thread-local storage and merged strings runs
//# not: mold -- the one that is installed is built without i386
//# matrix: opt=-O0,-O2 code=-fno-pie,-fPIE
//# sh: i686-linux-gnu-gcc {opt} {code} -g -no-pie -static -B $LD_DIR i386-static.c -o out && ./out two one
//# stdout: 3 arguments, sorted: one two
//# stdout: counter 7 of 7, zero 0, main's 42
//# stdout: resolved at start: 6
//# stdout: heap, 1.50
//# sh: llvm-readelf-22 -h out
//# stdout-re: Class: +ELF32
//# stdout-re: Data: +2's complement, little endian
//# stdout-re: Machine: +Intel 80386
//# sh: llvm-readelf-22 -r out
//# stdout-re: R_386_IRELATIVE
//# sh: llvm-readelf-22 -s out | grep -w global
//# stdout-re: TLS +GLOBAL +DEFAULT
//# sh: printf 'int other(void) { static const char text[] = "another"; return text[2]; }' > other.c
//# sh: i686-linux-gnu-gcc {opt} {code} -g -c other.c i386-static.c && $LD -m elf_i386 -r other.o i386-static.o -o joined.o
//# sh: i686-linux-gnu-gcc -no-pie -static -B $LD_DIR joined.o -o out && ./out one two
//# stdout: 3 arguments, sorted: one two
//# stdout: counter 7 of 7, zero 0, main's 42
//# stdout: resolved at start: 6
//# stdout: heap, 1.50
// Start code counts on it that slots of its own program are not loaded, whatever options say.
//# [!lld] sh: i686-linux-gnu-gcc {opt} -fPIE i386-static.c -static-pie -Wl,--no-relax -B $LD_DIR -o out && ./out one two
//# [!lld] stdout: 3 arguments, sorted: one two
//# [!lld] stdout: counter 7 of 7, zero 0, main's 42
//# [!lld] stdout: resolved at start: 6
//# [!lld] stdout: heap, 1.50
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread int counter = 7;
static __thread long zero[100];
__thread int global = 41;

/* Its implementation is chosen at the start of the program. */
static int six(void) { return 6; }
static int (*resolver(void))(void) { return six; }
int chosen(void) __attribute__((ifunc("resolver")));

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int (*volatile called)(void) = chosen;
static const char *const names[] = {"counter", "zero", "main's"};

__attribute__((constructor)) static void before(void) { global++; }

int main(int argc, char **argv) {
    qsort(argv + 1, argc - 1, sizeof *argv, compare);
    printf("%d arguments, sorted: %s %s\n", argc, argv[1], argv[2]);
    printf("%s %d of 7, %s %ld, %s %d\n", names[0], counter, names[1], zero[99], names[2], global);
    printf("resolved at start: %d\n", called() == chosen() ? chosen() : 0);
    char *text = malloc(1000);
    strcpy(text, "heap");
    printf("%s, %.2f\n", text, argc * 0.5);
    free(text);
    return 0;
}
