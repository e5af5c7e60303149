//# about: SIGINT and SIGTERM in the middle of a link leave the old output, no temporary file, and of --reproduce all or nothing
//# only: weld -- others write in place
//# sh: for i in $(seq 40); do echo old > out; $LD signals.o big.o -o out --build-id=sha1 & pid=$!; sleep 0.00$((i % 10))$((i / 10)); kill -INT $pid 2>/dev/null || true; wait $pid || true; if [ "$(head -c 3 out)" = old ]; then :; else $LD signals.o big.o -o ref --build-id=sha1; cmp ref out; fi; rm -f ref; ls -A | grep -vxE 'out|signals\.[co]|big\.[so]|\.out\..*' && exit 1 || true; done
//# sh: for i in $(seq 20); do rm -f r.tar; $LD signals.o big.o -o out --reproduce=r.tar & pid=$!; sleep 0.0$((i % 4))$((i % 7)); kill -TERM $pid 2>/dev/null || true; wait $pid || true; test ! -e r.tar || { tar -tf r.tar >list && grep -q big.o list; } || exit 1; ls -A | grep weld- && exit 1 || true; done
//# sh: echo big.o
extern char data[];
void _start(void) { data[0] = 2; }
//--- big.s
.data
.globl data
data: .fill 20000000, 1, 7
.section .note.GNU-stack,"",@progbits
