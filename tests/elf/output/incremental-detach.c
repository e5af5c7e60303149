//# about: a full link that keeps its state ends for its caller when the output is there; the next link waits for the rest; killed before that, nothing is left
//# only: weld -- others do not relink
//# obj: main.o = incremental-detach.c
//# sh: bash detach.sh
int table[300000] = {17};
int main(void) { return table[0] - 17; }
void _start(void) {}
//--- detach.sh
# The first file that is renamed is the output; the third is made of the tables, when the caller has been let go.
slow() { # WHICH: renaming it takes a second
    strace -f -qq -o trace -e trace=rename,exit_group -e inject=rename:delay_enter=1000000:when=$1 -- "${@:2}"
}
slow 1 true 2>/dev/null || { echo 'no strace here'; exit 0; }
flags=(main.o --threads=2 --incremental -o dir/out)
mkdir dir; mkfifo fifo
# A descriptor that the caller has open is let go, too: its end is seen while the state is not there.
(slow 3 sh -c 'echo $$ >pid; exec "$@" 9>fifo >said 2>&1' sh $LD "${flags[@]}") &
timeout 60 cat fifo || { echo 'the caller waits for a descriptor'; exit 1; }
[ -f dir/out ] || { echo 'let go before there is an output'; exit 1; }
[ -f dir/.out.weld/state ] && { echo 'let go when all is done'; exit 1; }
$LD "${flags[@]}" || exit 1
tail -1 dir/.out.weld/log | grep -q 'no input has changed' || { echo 'did not wait'; cat dir/.out.weld/log; exit 1; }
wait
[ -s said ] && { echo 'something is said'; cat said; exit 1; }
first=$(cat pid)
awk -v pid=$first '$1 == pid && /exit_group\(0\)/ { gone = 1 } /tables.new/ && !gone { early = 1 } END { exit early || !gone }' trace || {
    echo 'the state was written first'; cat trace; exit 1; }
# It is one process if that is asked for, or if figures are.
for option in --no-detach --stats --incremental=verify; do
    rm -rf dir/.out.weld
    slow 3 $LD "${flags[@]}" $option >/dev/null || exit 1
    [ $(grep -c exit_group trace) = 1 ] || { echo "$option: two processes"; cat trace; exit 1; }
done
# Errors and exit codes are those of one.
$LD "${flags[@]}" no-such-file.o 2>err; [ $? = 1 ] || { echo 'another exit code'; exit 1; }
[ $(grep -c 'no-such-file.o' err) = 1 ] || { echo 'another error'; cat err; exit 1; }
# A signal to whom the caller knows ends both, and nothing is left.
for signal in TERM KILL; do
    rm -rf dir; mkdir dir
    slow 1 sh -c 'echo $$ >pid; exec "$@"' sh $LD "${flags[@]}" 2>err &
    for i in $(seq 300); do
        [ -f dir/.out.weld/a.new ] && break
        sleep 0.1
    done
    kill -$signal $(cat pid)
    wait $!; code=$?
    # The log of system calls ends with the last of both.
    [ $signal = KILL ] || [ $code = 143 ] || { echo "$signal: exit code $code"; exit 1; }
    ls -A dir | grep -v '^.out.weld$' && { echo "$signal: something is left"; exit 1; }
done
rm -rf dir; mkdir dir
$LD "${flags[@]}" && $LD "${flags[@]}" && tail -1 dir/.out.weld/log | grep -q relinked
