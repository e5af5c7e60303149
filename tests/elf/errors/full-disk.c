//# about: no room for the output: an error, the old output intact, nothing left behind
//# only: weld -- others write in place
//# sh: mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null || { echo 'cannot mount'; exit 0; }; trap 'umount small' EXIT; echo old > small/out; for engine in --mmap-output-file --no-mmap-output-file; do ! $LD full-disk.o $engine -o small/out 2> err || exit 1; grep -i 'space' err; grep small/out err; test "$(cat small/out)" = old; test "$(ls small)" = out; done
char data[200000] = {1};
void _start(void) {}
