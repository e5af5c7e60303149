//# about: a full link that keeps its state ends for its caller when the output is there; the next link waits for the rest; killed before that, nothing is left
//# only: weld -- others do not relink
//# obj: main.o = incremental-detach.c
//# sh: bash detach.sh
int table[300000] = {17};
int main(void) { return table[0] - 17; }
void _start(void) {}
//--- detach.sh
# What is renamed first is the output. What is written first is the mark in the lock, then that the caller may go, then the tables.
slow() { # CALL: it takes a second
    strace -f -qq -o trace -e trace=rename,linkat,write,exit_group -e inject=${1%:*}:delay_enter=1000000:when=${1#*:} -- "${@:2}"
}
slow rename:1 true 2>/dev/null || { echo 'no strace here'; exit 0; }
flags=(main.o --threads=1 --incremental --detach -o dir/out)
mkdir dir; mkfifo fifo
# A descriptor that the caller has open is let go, too: its end is seen while the state is not there.
(slow write:3 sh -c 'echo $$ >pid; exec "$@" 9>fifo >said 2>&1' sh $LD "${flags[@]}") &
timeout 60 cat fifo || { echo 'the caller waits for a descriptor'; exit 1; }
[ -f dir/out ] || { echo 'let go before there is an output'; exit 1; }
[ -s dir/.out.weld/state ] && { echo 'let go when all is done'; exit 1; }
ls dir/.out.weld >there
$LD "${flags[@]}" || exit 1
tail -1 dir/.out.weld/log | grep -q 'no input has changed' || { echo 'did not wait'; cat dir/.out.weld/log; exit 1; }
wait
ls dir/.out.weld | cmp - there || { echo 'there is a file that was not'; exit 1; }
[ -s said ] && { echo 'something is said'; cat said; exit 1; }
awk -v pid=$(cat pid) '$1 == pid && /exit_group\(0\)/ { gone = 1 } /weldmemo/ && !gone { early = 1 } END { exit early || !gone }' trace || {
    echo 'the state was written first'; cat trace; exit 1; }
# It is one process if that is asked for, or if figures are.
for option in --no-detach --stats --incremental=verify; do
    rm -rf dir/.out.weld
    slow write:99 $LD "${flags[@]}" $option >/dev/null || exit 1
    [ $(grep -c exit_group trace) = 1 ] || { echo "$option: two processes"; cat trace; exit 1; }
done
# An input that is written to meanwhile, and one that is gone, is not what was linked; a unit of rustc's may go.
cp main.o first.o
for how in write remove; do
    for name in main.o main.rcgu.o; do
        rm -rf dir; mkdir dir
        cp first.o $name
        [ $how = write ] || sleep 0.1
        slow write:3 $LD "${flags[@]/main.o/$name}" 2>err &
        while [ ! -s dir/.out.weld/lock ]; do sleep 0.05; done
        case $how in
            write) printf '\x47' | dd of=$name bs=1 seek=64 conv=notrunc 2>/dev/null ;;
            remove) rm $name ;;
        esac
        wait
        kept=no; [ -s dir/.out.weld/state ] && kept=yes
        [ "$how $name $kept" = "remove main.rcgu.o yes" ] || [ $kept = no ] || { echo "$how $name: there is a state"; exit 1; }
        [ "$how $name" != "remove main.rcgu.o" ] || [ $kept = yes ] || { echo "$how $name: no state"; cat dir/.out.weld/log; exit 1; }
    done
done
cp first.o main.o
# Errors and exit codes are those of one, also for who is not told of children.
rm -rf dir; mkdir dir
$LD "${flags[@]}" no-such-file.o 2>err; [ $? = 1 ] || { echo 'another exit code'; exit 1; }
[ $(grep -c 'no-such-file.o' err) = 1 ] || { echo 'another error'; cat err; exit 1; }
python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])' \
    $LD "${flags[@]}" -Ttext=0x400000 || { echo 'a failure for who ignores SIGCHLD'; exit 1; }
# A signal to whom the caller knows ends both, and nothing is left.
for signal in TERM INT KILL USR2; do
    rm -rf dir; mkdir dir
    slow linkat:1 python3 -c 'import os, signal, sys
open("pid", "w").write(str(os.getpid()))
for name in signal.SIGINT, signal.SIGUSR2: signal.signal(name, signal.SIG_DFL if sys.argv[1] != "KILL" else signal.SIG_IGN)
os.execvp(sys.argv[2], sys.argv[2:])' $signal $LD "${flags[@]}" 2>err &
    for i in $(seq 300); do
        ls -A dir | grep -q '^.out.weld-' && break
        sleep 0.1
    done
    kill -$signal $(cat pid)
    wait $!; code=$?
    # The log of system calls ends with the last of both.
    [ $code = $((128 + $(kill -l $signal))) ] || { echo "$signal: exit code $code"; exit 1; }
    ls -A dir | grep -v '^.out.weld$' && { echo "$signal: something is left"; exit 1; }
done
rm -rf dir; mkdir dir
$LD "${flags[@]}" && $LD "${flags[@]}" && tail -1 dir/.out.weld/log | grep -q relinked
