/* Runs one command and reports what it cost: the stopwatch of bench/run.
 *
 *     measure FD COMMAND [ARGUMENT]...
 *
 * writes one line to the file descriptor FD:
 *
 *     WALL_NS USER_US SYS_US MINOR_FAULTS MAJOR_FAULTS PEAK_RSS_KIB STATUS
 *
 * where STATUS is the wait status. It is a program of its own, and a small one, because the kernel
 * counts the resident memory of the process that called exec towards the command's peak: started
 * from Python a linker would never need less than 10 MB. Time a command spends in children that it
 * waited for is included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: measure FD COMMAND [ARGUMENT]...\n");
        return 2;
    }
    int report = atoi(argv[1]);
    long long start = now_ns();
    pid_t child = fork();
    if (child == 0) {
        close(report);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("measure");
        return 1;
    }
    long long wall = now_ns() - start;
    dprintf(report, "%lld %lld %lld %ld %ld %ld %d\n", wall, microseconds(usage.ru_utime),
            microseconds(usage.ru_stime), usage.ru_minflt, usage.ru_majflt, usage.ru_maxrss, status);
    return 0;
}
