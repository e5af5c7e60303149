//# about: a link takes threads from the jobserver of its build, and gives the tokens back however it ends
//# only: weld -- others have no jobserver
//# sh: bash tokens.sh fifo
//# sh: bash tokens.sh pipe
//# sh: bash killed.sh
//# sh: bash make.sh
//# sh: ls data.o jobserver.o
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- data.s
.data
.byte 1
.section .note.GNU-stack,"",@progbits
//--- many.sh
# As many inputs as make it worth to ask for threads at once, and a jobserver with 40 tokens.
{ echo jobserver.o; yes data.o | head -300; } > many.rsp
all=0123456789abcdefghijklmnopqrstuvwxyz++++
# The tokens that are in the jobserver behind descriptor 9, sorted; they are put back.
left() { dd iflag=nonblock bs=99 count=1 <&9 2>/dev/null | tee >(cat >&9) | fold -w1 | LC_ALL=C sort | tr -d '\n'; }
expect() { sleep 0.05; [ "$(left)" = "$(fold -w1 <<< $all | LC_ALL=C sort | tr -d '\n')" ] || { echo "$1: $(left)"; exit 1; }; }
//--- tokens.sh
set -e
. ./many.sh
rm -f jobs && mkfifo jobs
exec 9<>jobs
printf %s $all >&9
case $1 in
fifo) export MAKEFLAGS="-j4 --jobserver-auth=fifo:$PWD/jobs" ;;
pipe) exec 7<jobs 8>jobs; export MAKEFLAGS="-j4 --jobserver-auth=7,8" ;;
esac
processors=$(nproc)
[ $processors -le 32 ] || processors=32
expect before
# Success: one thread for each processor, all tokens are there again.
$LD @many.rsp -o out --stats > stats
grep -qx "threads: $processors of $processors useful (the build has a jobserver)" stats || { cat stats; exit 1; }
expect success
# Errors in the phase that opens inputs, and in a later one.
! $LD @many.rsp missing.o -o out 2>/dev/null
expect "missing file"
! $LD @many.rsp -u undefined --defsym=a=b -o out 2>/dev/null
expect "undefined symbol"
# The command line has the last word.
MAKEFLAGS=${MAKEFLAGS} $LD @many.rsp --threads=3 -o out --stats > stats
grep -qx 'threads: 3' stats || { cat stats; exit 1; }
# Nobody waits for a token that is not there.
dd bs=99 count=1 <&9 > taken 2>/dev/null
timeout 20 $LD @many.rsp -o out --stats > stats
grep -qx "threads: 1 of $processors useful (the build has a jobserver)" stats || [ $processors = 1 ] || { cat stats; exit 1; }
//--- killed.sh
set -e
. ./many.sh
rm -f jobs && mkfifo jobs slow.o
exec 9<>jobs
printf %s $all >&9
export MAKEFLAGS="--jobserver-auth=fifo:$PWD/jobs"
for signal in INT TERM HUP QUIT; do
  # The shell lets what runs in the background ignore SIGINT and SIGQUIT, nohup SIGHUP.
  (trap - INT QUIT; exec env --default-signal=INT,QUIT,HUP,TERM $LD @many.rsp slow.o -o out) & pid=$!
  # This opens when weld opens the other end, and weld has tokens then. It never gets a byte.
  exec 6> slow.o
  kill -$signal $pid
  wait $pid && exit 1
  exec 6>&-
  expect "killed by $signal"
done
//--- make.sh
# Under a real make, through the pipe or fifo that it makes: all links are done, and no token is lost, of
# which make itself complains.
set -e
. ./many.sh
printf 'all: out1 out2 out3 out4\nout%%:\n\t+$(LD) @many.rsp -o $@ --stats > $@.stats\n' > Makefile
make -j3 LD="$LD" > log 2>&1 || { cat log; exit 1; }
! grep -i -E 'token|jobserver' log
grep -q 'the build has a jobserver' out1.stats out2.stats out3.stats out4.stats
cmp out1 out2 && cmp out1 out3 && cmp out1 out4
