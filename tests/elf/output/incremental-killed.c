//# about: whenever a relink is killed, or a system call of it fails: the output is that of the link before or of a full link, and so is the next one's
//# only: weld -- others do not relink
//# obj: old.o = incremental-killed.c -DVALUE=17
//# obj: new.o = incremental-killed.c -DVALUE=71
//# sh: bash killed.sh
int table[300000] = {VALUE};
int main(void) { return VALUE; }
void _start(void) {}
//--- killed.sh
mkdir dir
inject() { strace -f -qq -o /dev/null -e inject=$1 -- "${@:2}"; }
inject none:error=EIO true 2>/dev/null; inject fchmod:error=EIO true 2>/dev/null || { echo 'no strace here'; exit 0; }
flags=(dir/o.o --threads=1 --build-id --dependency-file=dir/d)
for value in old new; do
    cp $value.o dir/o.o; $LD "${flags[@]}" --incremental=force-full -o dir/full && mv dir/full $value.full
done
relink() { "$@" $LD "${flags[@]}" --incremental -o dir/out; }
# What is linked next, and what was last.
set_input() { sleep 0.03; rm -f dir/o.o; cp $1.o dir/o.o; }
check() { # WHAT: the next link is right
    relink || { echo "$1: the next link fails"; exit 1; }
    cmp -s dir/out $new.full || { echo "$1: the next output is wrong"; tail -3 dir/.out.weld/log; exit 1; }
    grep -q '^dir/out:' dir/d || { echo "$1: no dependency file"; exit 1; }
}
set_input old; relink; set_input new; relink
tail -1 dir/.out.weld/log | grep -q relinked || { echo 'it does not relink'; cat dir/.out.weld/log; exit 1; }
old=old new=new count=0
try() { # CALL HOW TIMES...
    local call=$1 how=$2 n code
    for n in ${@:3}; do
        # An undisturbed link, so that a relink follows.
        set_input $old; relink; set_input $new
        relink inject $call:$how:when=$n 2>err; code=$?
        case $code in
        0) cmp -s dir/out $new.full || { echo "$call $how $n: wrong output"; tail -2 dir/.out.weld/log; exit 1; } ;;
        1 | 127 | 137)
            cmp -s dir/out $old.full || cmp -s dir/out $new.full || { echo "$call $how $n: the output is neither"; exit 1; }
            count=$((count + 1))
            check "$call $how $n" ;;
        *) echo "$call $how $n: exit code $code"; cat err; exit 1 ;;
        esac
        { read old new; } <<< "$new $old"
        [ $code = 0 ] && [ $how = signal=KILL ] && break
    done
}
for call in openat close unlink rename link linkat pwrite64 pread64 write fcntl flock utimensat fchmod chmod mkdir; do
    try $call signal=KILL 1 2 3 5 8 13
done
for call in openat unlink rename link linkat pwrite64 write ftruncate fallocate flock fcntl utimensat; do
    try $call error=ENOSPC 1 2 4
done
try pread64 error=EIO 1 3 9
echo "$count stopped"
[ $count -gt 20 ]
