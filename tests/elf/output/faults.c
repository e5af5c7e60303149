//# about: whichever system call fails for the output: an error that names it, the old output whole, nothing left behind
//# only: weld -- others remove the old output first
//# sh: bash faults.sh faults.o
char table[1500000] = {1};
int main(void) { return 0; }
void _start(void) {}
//--- faults.sh
mkdir dir
inject() { strace -f -qq -o /dev/null -e inject=$1 -- "${@:2}"; }
inject none:error=EIO true 2>/dev/null; inject fchmod:error=EIO true 2>/dev/null || { echo 'no strace here'; exit 0; }
count=0
try() { # CALL ERROR ARGS...: each time that the call is made, until the link succeeds twice
    local call=$1 error=$2 n good=0
    shift 2
    $LD faults.o --threads=1 "$@" -o reference || exit 1
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        echo old > dir/out
        inject $call:error=$error:when=$n $LD faults.o --threads=1 "$@" -o dir/out 2> err
        case $? in
        0)
            cmp dir/out reference || { echo "$call $n $*: wrong output"; exit 1; }
            good=$((good + 1))
            [ $good = 1 ] || break
            ;;
        1)
            test "$(cat dir/out)" = old || { echo "$call $n $*: old output lost"; exit 1; }
            grep -q 'error: cannot .*\(dir/out\|faults.o\)' err || { echo "$call $n $*:"; cat err; exit 1; }
            count=$((count + 1))
            ;;
        127) ;; # the program did not start
        *) echo "$call $n $*: exit code"; cat err; exit 1 ;;
        esac
        test "$(ls -A dir)" = out || { echo "$call $n $*:"; ls -A dir; exit 1; }
    done
}
for id in --build-id=none --build-id=fast --build-id=sha1; do
    for engine in --mmap-output-file --no-mmap-output-file; do
        try ftruncate ENOSPC $id $engine
        try rename EACCES $id $engine
        try fallocate ENOSPC $id $engine
        try fallocate EOPNOTSUPP $id $engine
        try fstatfs EIO $id $engine
        try faccessat2 EACCES $id $engine
        try pwrite64 ENOSPC $id $engine
        try pwrite64 EINTR $id $engine
        try pread64 EIO $id $engine
    done
done
try close EIO
echo "$count failures"
