/* What it costs to bring an image into a file, by each way the system offers: the figures behind
 * weld's choice of output engine (bench/notes/output.md).
 *
 *     output DIRECTORY MIB [ROUNDS] [METHOD]...
 *
 * Each method runs in a process of its own, in turn with the others; printed are the medians of
 * wall, user and system milliseconds (the process's end included) and of page faults.
 * "fill" methods make the bytes (a pattern, cheap) in units of 512 KiB; "copy" methods take them
 * from another file, which is in the page cache; "old" methods replace a file of the same size. The file systems
 * that lack a call show "-".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 512 * 1024, MAX_ROUNDS = 64, QUEUE = 8 };

static size_t size;
static const char *out = "out", *input = "input", *old = "old";
static int file, source;
static char *map, *source_map;
static atomic_size_t next_unit;

static void fail(const char *what) {
    if (errno == EOPNOTSUPP || errno == EINVAL || errno == EXDEV || errno == ENOSYS || errno == ENODEV)
        _exit(77);
    perror(what);
    _exit(1);
}

static void must(int failed, const char *what) {
    if (failed)
        fail(what);
}

/* Unaligned borders, as between the sections of a link, unless the method wants whole pages. */
static size_t skew = 1000;

static size_t unit_start(size_t i) {
    size_t start = i * (size_t)UNIT;
    return i && start < size ? start - skew : start < size ? start : size;
}

static void *buffer(void) {
    void *result;
    must(posix_memalign(&result, 4096, UNIT + 4096), "memory");
    memset(result, 1, UNIT + 4096);
    return result;
}

static void fill(char *to, size_t length, size_t i) {
    memset(to, (int)i, length);
}

static void write_all(int fd, const char *from, size_t length, off_t at) {
    for (ssize_t n; length; from += n, length -= n, at += n)
        must((n = pwrite(fd, from, length, at)) <= 0, "pwrite");
}

static void create(int flags, int set_size) {
    must((file = open(out, O_RDWR | O_CREAT | O_EXCL | flags, 0755)) < 0, out);
    must(set_size && ftruncate(file, size), "ftruncate");
}

static void *fill_and_write(void *unused) {
    char *from = buffer();
    for (size_t i; (i = next_unit++) * UNIT < size;) {
        size_t at = unit_start(i), length = unit_start(i + 1) - at;
        fill(from, length, i);
        write_all(file, from, length, at);
    }
    return unused;
}

static void two(void *(*work)(void *)) {
    pthread_t other;
    must(pthread_create(&other, NULL, work, NULL), "thread");
    work(NULL);
    pthread_join(other, NULL);
}

/* One thread writes at a time; what others have filled meanwhile waits for it in a queue. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_room = PTHREAD_COND_INITIALIZER;
static struct filled { char *bytes; size_t length, at; } queue[QUEUE];
static char *spare[QUEUE + 8];
static int queued, spares, writing;

static void *fill_and_queue(void *unused) {
    for (size_t i; (i = next_unit++) * UNIT < size;) {
        pthread_mutex_lock(&queue_lock);
        while (queued == 2)
            pthread_cond_wait(&queue_room, &queue_lock);
        char *from = spares ? spare[--spares] : NULL;
        pthread_mutex_unlock(&queue_lock);
        if (!from)
            from = buffer();
        size_t at = unit_start(i), length = unit_start(i + 1) - at;
        fill(from, length, i);
        pthread_mutex_lock(&queue_lock);
        queue[queued++] = (struct filled){from, length, at};
        if (!writing) {
            writing = 1;
            while (queued) {
                struct filled unit = queue[--queued];
                pthread_cond_signal(&queue_room);
                pthread_mutex_unlock(&queue_lock);
                write_all(file, unit.bytes, unit.length, unit.at);
                pthread_mutex_lock(&queue_lock);
                spare[spares++] = unit.bytes;
            }
            writing = 0;
        }
        pthread_mutex_unlock(&queue_lock);
    }
    return unused;
}

static void *fill_mapping(void *populate) {
    for (size_t i; (i = next_unit++) * UNIT < size;) {
        size_t at = unit_start(i), end = unit_start(i + 1);
        if (populate)
            must(madvise(map + (at & ~4095ul), end - (at & ~4095ul), MADV_POPULATE_WRITE), "populate");
        fill(map + at, end - at, i);
    }
    return NULL;
}

static void map_output(int huge) {
    create(0, 1);
    must((map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED, "mmap");
    if (huge)
        madvise(map, size, MADV_HUGEPAGE);
}

static void open_source(int mapped) {
    must((source = open(input, O_RDONLY)) < 0, input);
    if (mapped)
        must((source_map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, source, 0)) == MAP_FAILED, "mmap");
}

/* Each write goes from a border of blocks to another; the bytes beyond it are kept for the next one. */
static void m_write_blocks(void) {
    create(0, 1);
    char *from = buffer(), *kept = buffer();
    size_t keep = 0;
    for (size_t i = 0; i * UNIT < size; i++) {
        fill(from, UNIT + skew - keep, i);
        struct iovec parts[] = {{kept, keep}, {from, UNIT - keep}};
        size_t at = i * (size_t)UNIT;
        must(pwritev(file, parts, 2, at) != UNIT, "pwritev");
        keep = skew;
        memcpy(kept, from + UNIT - keep, keep);
    }
}
static void small(size_t step) {
    create(0, 1);
    char *from = buffer();
    for (size_t i = 0; i * UNIT < size; i++) {
        size_t at = unit_start(i), length = unit_start(i + 1) - at;
        fill(from, length, i);
        for (size_t done = 0; done < length; done += step)
            write_all(file, from + done, length - done < step ? length - done : step, at + done);
    }
}
static void m_write_32k(void) { small(32 << 10); }
/* As weld does: each write ends at a multiple of 64 KiB of the file. */
static void m_write_64k(void) {
    create(0, 1);
    char *from = buffer();
    for (size_t i = 0; i * UNIT < size; i++) {
        size_t at = unit_start(i), end = unit_start(i + 1), start = at, step;
        fill(from, end - at, i);
        for (; at < end; at += step) {
            step = 65536 - at % 65536;
            step = end - at < step ? end - at : step;
            write_all(file, from + (at - start), step, at);
        }
    }
}
static void m_write_4k(void) { skew = 0; small(4 << 10); }
static void m_write_pages(void) { skew = 8192; create(0, 1); fill_and_write(NULL); }
static void m_write(void) { create(0, 1); fill_and_write(NULL); }
static void m_write_growing(void) { create(0, 0); fill_and_write(NULL); }
static void m_write_aligned(void) { skew = 0; create(0, 1); fill_and_write(NULL); }
static void m_write_reserved(void) { create(0, 1); must(fallocate(file, 0, 0, size), "fallocate"); fill_and_write(NULL); }
static void m_write_2(void) { create(0, 1); two(fill_and_write); }
static void m_write_2_queue(void) { create(0, 1); two(fill_and_queue); }
static void m_map(void) { map_output(0); fill_mapping(NULL); }
static void m_map_2(void) { map_output(0); two(fill_mapping); }
static void m_map_huge(void) { map_output(1); fill_mapping(NULL); }
static void m_map_reserved(void) { map_output(1); must(fallocate(file, 0, 0, size), "fallocate"); fill_mapping(NULL); }
static void m_map_populate(void) { map_output(0); fill_mapping(&map); }
static void m_direct(void) { skew = 0; create(O_DIRECT, 1); fill_and_write(NULL); }
static void m_direct_reserved(void) { skew = 0; create(O_DIRECT, 1); must(fallocate(file, 0, 0, size), "fallocate"); fill_and_write(NULL); }
static void m_direct_2(void) { skew = 0; create(O_DIRECT, 1); two(fill_and_write); }
static void m_heap(void) {
    char *all = malloc(size);
    create(0, 1);
    for (size_t i = 0; i * UNIT < size; i++)
        fill(all + unit_start(i), unit_start(i + 1) - unit_start(i), i);
    write_all(file, all, size, 0);
}

/* io_uring by hand: a ring of DEPTH units in flight. */
enum { DEPTH = 8 };
static void uring(int flags) {
    struct io_uring_params p = {0};
    int ring = syscall(SYS_io_uring_setup, DEPTH, &p);
    must(ring < 0, "io_uring_setup");
    size_t bytes = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    char *rings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *sqes = mmap(NULL, p.sq_entries * sizeof *sqes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
    must(rings == MAP_FAILED || (void *)sqes == MAP_FAILED, "ring");
    _Atomic unsigned *sq_tail = (void *)(rings + p.sq_off.tail), *cq_head = (void *)(rings + p.cq_off.head), *cq_tail = (void *)(rings + p.cq_off.tail);
    unsigned *array = (void *)(rings + p.sq_off.array), mask = *(unsigned *)(rings + p.sq_off.ring_mask), cq_mask = *(unsigned *)(rings + p.cq_off.ring_mask);
    struct io_uring_cqe *cqes = (void *)(rings + p.cq_off.cqes);
    skew = 0;
    create(flags, 1);
    char *buffers[DEPTH];
    int free_list[DEPTH], free_count = DEPTH, in_flight = 0;
    for (int i = 0; i < DEPTH; i++)
        buffers[i] = buffer(), free_list[i] = i;
    size_t i = 0;
    while (i * UNIT < size || in_flight) {
        unsigned submit = 0;
        if (i * UNIT < size && free_count) {
            int b = free_list[--free_count];
            size_t at = unit_start(i), length = unit_start(i + 1) - at;
            fill(buffers[b], length, i++);
            unsigned tail = *sq_tail, slot = tail & mask;
            sqes[slot] = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = file, .addr = (uintptr_t)buffers[b], .len = length, .off = at, .user_data = b};
            array[slot] = slot;
            *sq_tail = tail + 1;
            submit = 1, in_flight++;
        }
        int wait = !free_count || i * UNIT >= size;
        must(syscall(SYS_io_uring_enter, ring, submit, wait && in_flight, wait ? IORING_ENTER_GETEVENTS : 0, NULL, 0) < 0, "io_uring_enter");
        for (unsigned head = *cq_head; head != *cq_tail; *cq_head = ++head) {
            struct io_uring_cqe *done = &cqes[head & cq_mask];
            errno = done->res < 0 ? -done->res : 0;
            must(done->res < 0, "uring write");
            free_list[free_count++] = done->user_data;
            in_flight--;
        }
    }
}
static void m_uring(void) { uring(0); }
static void m_uring_direct(void) { uring(O_DIRECT); }

static void m_copy_buffer(void) {
    open_source(1);
    create(0, 1);
    char *from = buffer();
    for (size_t i = 0; i * UNIT < size; i++) {
        size_t at = unit_start(i), length = unit_start(i + 1) - at;
        memcpy(from, source_map + at, length);
        write_all(file, from, length, at);
    }
}
static void copy_mapped(int populate) {
    open_source(1);
    create(0, 1);
    for (size_t i = 0; i * UNIT < size; i++) {
        size_t at = unit_start(i), length = unit_start(i + 1) - at;
        if (populate)
            madvise(source_map + (at & ~4095ul), length + (at & 4095), MADV_POPULATE_READ);
        write_all(file, source_map + at, length, at);
    }
}
static void m_copy_mapped(void) { copy_mapped(0); }
static void m_copy_populated(void) { copy_mapped(1); }
/* Pieces of 64 KiB at other offsets in the input than in the output: what sections are. */
static size_t piece = UNIT;
static void copy_calls(int with_sendfile) {
    open_source(0);
    create(0, 1);
    for (size_t at = 0; at < size; at += piece) {
        off_t from = at ? at - 808 : 0, to = at;
        size_t length = size - at < piece ? size - at : piece;
        must(with_sendfile && lseek(file, to, SEEK_SET) < 0, "lseek");
        for (ssize_t n; length; length -= n) {
            n = with_sendfile ? sendfile(file, source, &from, length) : copy_file_range(source, &from, file, &to, length, 0);
            must(n <= 0, "copy");
        }
    }
}
static void m_copy_range(void) { copy_calls(0); }
static void m_copy_range_64k(void) { piece = 64 << 10; copy_calls(0); }
static void m_copy_sendfile(void) { copy_calls(1); }
static void m_copy_write_64k(void) {
    open_source(0);
    create(0, 1);
    char *from = buffer();
    piece = 64 << 10;
    for (size_t at = 0; at < size; at += piece) {
        size_t length = size - at < piece ? size - at : piece;
        must(pread(source, from, length, at ? at - 808 : 0) < 0, "pread");
        write_all(file, from, length, at);
    }
}

static void m_old_rename(void) { create(0, 1); must(rename(out, old), "rename"); }
static void m_old_unlink(void) { must(unlink(old), "unlink"); create(0, 1); must(rename(out, old), "rename"); }
static void m_old_exchange(void) { create(0, 1); must(renameat2(AT_FDCWD, out, AT_FDCWD, old, RENAME_EXCHANGE), "exchange"); }
/* The old file is kept open by a process that shares the memory and outlives this one. */
static int last_owner(void *unused) {
    (void)unused;
    _exit(0);
}
static void m_old_left_behind(void) {
    static char stack[16384];
    int keep = open(old, O_RDONLY);
    must(keep < 0, old);
    create(0, 1);
    must(rename(out, old), "rename");
    must(clone(last_owner, stack + sizeof stack, 0, NULL) < 0, "clone");
}
static void m_old_overwrite(void) {
    must((file = open(old, O_RDWR)) < 0, old);
    fill_and_write(NULL);
}
static void m_old_rename_write(void) { create(0, 1); fill_and_write(NULL); must(rename(out, old), "rename"); }

static const struct method { const char *name; void (*run)(void); } methods[] = {
    {"fill-write", m_write}, {"fill-write-32k", m_write_32k}, {"fill-write-64k", m_write_64k}, {"fill-write-4k", m_write_4k}, {"fill-write-pages", m_write_pages}, {"fill-write-blocks", m_write_blocks}, {"fill-write-growing", m_write_growing}, {"fill-write-aligned", m_write_aligned},
    {"fill-write-reserved", m_write_reserved}, {"fill-write-2-threads", m_write_2},
    {"fill-write-2-queue", m_write_2_queue}, {"fill-map", m_map}, {"fill-map-2-threads", m_map_2},
    {"fill-map-huge", m_map_huge}, {"fill-map-reserved", m_map_reserved}, {"fill-map-populate", m_map_populate},
    {"fill-heap-then-write", m_heap}, {"fill-direct", m_direct}, {"fill-direct-reserved", m_direct_reserved},
    {"fill-direct-2-threads", m_direct_2}, {"fill-uring", m_uring}, {"fill-uring-direct", m_uring_direct},
    {"copy-buffer", m_copy_buffer}, {"copy-mapped", m_copy_mapped}, {"copy-populated", m_copy_populated},
    {"copy-range", m_copy_range}, {"copy-sendfile", m_copy_sendfile}, {"copy-range-64k", m_copy_range_64k},
    {"copy-read-write-64k", m_copy_write_64k}, {"old-rename", m_old_rename}, {"old-unlink-first", m_old_unlink},
    {"old-exchange", m_old_exchange}, {"old-left-behind", m_old_left_behind}, {"old-overwrite", m_old_overwrite},
    {"old-rename-write", m_old_rename_write},
};
enum { METHODS = sizeof methods / sizeof *methods };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void make(const char *path) {
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    must(file < 0, path);
    next_unit = 0;
    fill_and_write(NULL);
    close(file);
}

static double samples[METHODS][4][MAX_ROUNDS];

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc < 3 || chdir(argv[1]))
        return fprintf(stderr, "usage: output DIRECTORY MIB [ROUNDS] [METHOD]...\n"), 2;
    size = strtoull(argv[2], NULL, 10) << 20;
    int rounds = argc > 3 ? atoi(argv[3]) : 5, works[METHODS];
    if (rounds < 1 || rounds > MAX_ROUNDS)
        rounds = 5;
    make(input);
    sync();
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < METHODS; k++) {
            int m = (k + round) % METHODS, wanted = argc <= 4;
            for (int i = 4; i < argc; i++)
                wanted |= !strncmp(argv[i], methods[m].name, strlen(argv[i]));
            if (!(works[m] = wanted))
                continue;
            unlink(out);
            if (!strncmp(methods[m].name, "old", 3)) {
                make(old);
                if (getenv("CLEAN"))
                    sync();
            }
            double start = now();
            int status;
            struct rusage used;
            if (!fork()) {
                next_unit = 0;
                methods[m].run();
                _exit(0);
            }
            wait4(-1, &status, 0, &used);
            double wall = now() - start;
            if (status) {
                works[m] = WEXITSTATUS(status) == 77 ? -1 : 0;
                continue;
            }
            double values[] = {wall, used.ru_utime.tv_sec * 1e3 + used.ru_utime.tv_usec / 1e3,
                               used.ru_stime.tv_sec * 1e3 + used.ru_stime.tv_usec / 1e3, used.ru_minflt};
            for (int v = 0; v < 4; v++)
                samples[m][v][round] = values[v];
            usleep(getenv("PAUSE_MS") ? atoi(getenv("PAUSE_MS")) * 1000 : 20000);
        }
    unlink(out), unlink(old), unlink(input);
    printf("%-24s %9s %9s %9s %9s\n", "method", "wall ms", "user ms", "sys ms", "faults");
    for (int m = 0; m < METHODS; m++) {
        if (!works[m])
            continue;
        printf("%-24s", methods[m].name);
        for (int v = 0; v < 4; v++) {
            qsort(samples[m][v], rounds, sizeof(double), by_value);
            works[m] < 0 ? printf(" %9s", "-") : printf(" %9.1f", samples[m][v][rounds / 2]);
        }
        putchar('\n');
    }
    return 0;
}
