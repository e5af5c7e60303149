/* The floor under a link: what it costs to read the needed input bytes once and to write an
 * output of the same size, and nothing else. bench/run prints it beside the linkers.
 *
 *     floor NEEDED OUT SIZE [--threads=N] [--input=map|read] [--output=write|map]
 *
 * NEEDED is a workload's file of that name: `OFFSET LENGTH PATH` lines, the files and archive
 * members that a link takes. They are mapped and populated in pieces of at most 256 KiB (or read
 * into a buffer that stays in the cache, `read`), and every word is looked at. The output is written
 * with `pwrite` from a hot buffer (or through a shared mapping, `map`). Threads take pieces from an
 * atomic counter. The defaults are the cheapest calls on the machine this was written on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 * 1024 };

struct piece {
    int fd;
    off_t offset;
    size_t length;
    const char *map; /* of the whole file, or NULL */
};

static struct piece *pieces;
static size_t piece_count, output_pieces, output_size;
static int output;
static char *output_map;
static int map_input = 1, map_output, thread_count = 1;
static atomic_size_t next_input, next_output;
static _Atomic uint64_t total;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void add_pieces(int fd, const char *map, off_t offset, size_t length) {
    static size_t capacity;
    for (size_t done = 0; done < length; done += PIECE) {
        if (piece_count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            if (!(pieces = realloc(pieces, capacity * sizeof *pieces)))
                fail("realloc");
        }
        size_t rest = length - done;
        pieces[piece_count++] = (struct piece){fd, offset + done, rest < PIECE ? rest : PIECE, map};
    }
}

/* Opens each file once; lines that name the same file follow one another. */
static void load(const char *needed) {
    FILE *list = fopen(needed, "r");
    if (!list)
        fail(needed);
    char path[4096], last[4096] = "";
    long long offset, length;
    int fd = -1;
    const char *map = NULL;
    while (fscanf(list, "%lld %lld %4095[^\n]", &offset, &length, path) == 3) {
        if (strcmp(path, last)) {
            struct stat info;
            if ((fd = open(path, O_RDONLY)) < 0 || fstat(fd, &info))
                fail(path);
            if (map_input && (map = mmap(NULL, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
                fail(path);
            strcpy(last, path);
        }
        add_pieces(fd, map, offset, length);
    }
    fclose(list);
}

static uint64_t sum(const char *data, size_t length) {
    uint64_t result = 0, word;
    for (size_t i = 0; i + 8 <= length; i += 8) {
        memcpy(&word, data + i, 8);
        result += word;
    }
    return result;
}

static void read_piece(const struct piece *piece, char *buffer) {
    const char *data = buffer;
    if (piece->map) {
        data = piece->map + piece->offset;
        uintptr_t start = (uintptr_t)data & ~(uintptr_t)4095, end = (uintptr_t)data + piece->length;
        madvise((void *)start, end - start, MADV_POPULATE_READ);
    } else if (pread(piece->fd, buffer, piece->length, piece->offset) != (ssize_t)piece->length) {
        fail("read");
    }
    total += sum(data, piece->length);
}

static void write_piece(size_t index, const char *buffer) {
    size_t offset = index * (size_t)PIECE, rest = output_size - offset, length = rest < PIECE ? rest : PIECE;
    if (output_map)
        memcpy(output_map + offset, buffer, length);
    else
        for (size_t at = 0, n; at < length; at += n) {
            /* Longer calls get large blocks of memory for the page cache, which may be the host's. */
            n = length - at < 65536 ? length - at : 65536;
            if (pwrite(output, buffer + at, n, offset + at) != (ssize_t)n)
                fail("write");
        }
}

static void *work(void *unused) {
    char *buffer = malloc(PIECE);
    if (!buffer)
        fail("malloc");
    memset(buffer, 1, PIECE);
    for (size_t i; (i = next_input++) < piece_count;)
        read_piece(&pieces[i], buffer);
    for (size_t i; (i = next_output++) < output_pieces;)
        write_piece(i, buffer);
    return unused;
}

static void parse(const char *option) {
    if (!strncmp(option, "--threads=", 10))
        thread_count = atoi(option + 10);
    else if (!strcmp(option, "--input=map") || !strcmp(option, "--input=read"))
        map_input = option[8] == 'm';
    else if (!strcmp(option, "--output=map") || !strcmp(option, "--output=write"))
        map_output = option[9] == 'm';
    else
        fprintf(stderr, "floor: unknown option %s\n", option), exit(2);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: floor NEEDED OUT SIZE [OPTION]...\n");
        return 2;
    }
    for (int i = 4; i < argc; i++)
        parse(argv[i]);
    load(argv[1]);
    output_size = strtoull(argv[3], NULL, 10);
    output_pieces = (output_size + PIECE - 1) / PIECE;
    if ((output = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0755)) < 0)
        fail(argv[2]);
    if (map_output && (ftruncate(output, output_size) || (output_map = mmap(NULL, output_size, PROT_READ | PROT_WRITE,
                                                                           MAP_SHARED, output, 0)) == MAP_FAILED))
        fail(argv[2]);
    pthread_t threads[64];
    if (thread_count > 64)
        thread_count = 64;
    for (int i = 1; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            fail("pthread_create");
    work(NULL);
    for (int i = 1; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    _exit(total == 42 ? 3 : 0); /* uses the sum; unmapping and closing are the kernel's */
}
