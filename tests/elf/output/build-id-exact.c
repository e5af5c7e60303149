//# about: --build-id=md5 and sha1 are the digests of the file with an id of zeroes; only these read the file back
//# cflags: -fPIC
//# matrix: digest=md5,sha1 kind=pie,shared,relocatable engine=mmap,no-mmap
//# only: weld -- others take digests of digests, or of other bytes
//# [kind=pie] link: build-id-exact.o %pie --build-id={digest} --{engine}-output-file -o out
//# [kind=shared] link: build-id-exact.o %shared --build-id={digest} --{engine}-output-file -o out
//# [kind=relocatable] link: build-id-exact.o -r --build-id={digest} --{engine}-output-file -o out
//# sh: bash exact.sh {digest}sum out
//# sh: $LD build-id-exact.o -r -o /dev/null --build-id={digest}
#include <stdio.h>
char table[3 << 20] = {1};
int main(void) { puts(table); return 0; }
//--- exact.sh
offset=$(llvm-readelf-22 -SW $2 | awk '{for (i = 1; i < NF; i++) if ($i == ".note.gnu.build-id") print $(i + 3)}')
want=$(llvm-readelf-22 -n $2 | sed -n 's/.*Build ID: //p')
cp $2 zeroed
head -c $((${#want} / 2)) /dev/zero | dd of=zeroed bs=1 seek=$((0x$offset + 16)) conv=notrunc status=none
found=$($1 zeroed | cut -d' ' -f1)
test -n "$want" && test "$found" = "$want" || { echo "id $want, digest $found"; exit 1; }
