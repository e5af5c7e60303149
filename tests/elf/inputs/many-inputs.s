//# about: ten thousand inputs with few descriptors, however they are opened
//# sh: bash run.sh
//# sh: ls many-inputs.o data.o
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- data.s
.data
.byte 1
.section .note.GNU-stack,"",@progbits
//--- run.sh
set -e
# Members of an archive that has no bytes of its own are inputs like any other.
rm -f libthin.a
for i in 1 2 3 4 5 6 7 8 9; do cp data.o data$i.o; done
ar rcsT libthin.a data?.o
{ echo many-inputs.o; yes data.o | head -9990; echo --whole-archive libthin.a; } > many.rsp
ulimit -n 64
$LD @many.rsp -o out
[ "$($LD --version | cut -c1-4)" = weld ] || exit 0
for options in --threads=1 --threads=8 "--threads=8 --prefetch=on" "--threads=8 --mmap-output-file"; do
  $LD @many.rsp $options -o out2
  cmp out out2
done
# There are as many .data bytes as inputs that have one.
readelf -SW out | grep -E ' \.data +PROGBITS +[0-9a-f]+ [0-9a-f]+ 00270f ' >/dev/null
