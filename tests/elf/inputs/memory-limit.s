//# about: a link needs less memory of its own than half the size of its inputs, which stay in their files
//# only: weld -- others may need more
//# sh: bash run.sh
//# sh: ls memory-limit.o big.o
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- big.s
.data
.fill 2000000, 1, 7
.section .debug_info,"",@progbits
.fill 500000, 1, 8
.section .note.GNU-stack,"",@progbits
//--- run.sh
set -e
{ echo memory-limit.o; yes big.o | head -40; } > inputs.rsp
$LD @inputs.rsp -o want
# 100 MB of inputs; memory that is private and can be written, in KiB. Mapped inputs are neither.
ulimit -d 50000
for options in --threads=1 --threads=4 "--threads=4 --prefetch=on"; do
  $LD @inputs.rsp $options -o out
  cmp want out
done
