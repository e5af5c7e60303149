# What bench/cross-programs has busybox do, by its own shell; $1 runs one of its commands, and $2 is a directory with sources.
run=$1 sources=$2
b() { $run "$@"; }
work=$(b mktemp -d)
cd "$work"
b cat "$sources"/libbb/*.c > all
b wc all
b sort all | b uniq -c | b sort -rn -k1,1 -k2 | b head -n 15
b awk '{ n[length($0) % 17] += NF } END { for (i = 0; i < 17; ++i) printf "%d %s %.3f\n", i, n[i], log(n[i]) }' all
b sed -n 's/^\([a-z_]*\) FAST_FUNC \(.*\)$/\2: \1/p;/^#if/{n;p}' all | b md5sum
b grep -c 'return' all
b grep -E -o 'x[a-z]+\(' all | b sort -u | b tr '\n' ' '
echo
for how in gzip bzip2; do
    b $how -c all > packed
    b $how -dc packed | b cmp - all && echo "$how $(b md5sum < packed)"
done
b tar -cf all.tar -C "$sources" --exclude .git coreutils && b tar -tf all.tar | b sort | b md5sum
mkdir tree && b tar -xf all.tar -C tree && b find tree -name 'd*.c' -size +2k | b sort
b sha1sum all; b sha256sum all; b sha512sum all; b sha3sum all; b cksum < all; b crc32 all
b dc -e '2 100 ^ p 7 3 / p' 2>&1
echo 'scale=30; 4*a(1); 2^200; sqrt(2)' | b bc -l
b printf '%d %x %s %5.2f\n' 42 255 text 3.14159
b diff -u all packed | b head -n 1
b od -A d -t x1z all | b head -n 3
b hexdump -C packed | b head -n 2
b xxd packed | b head -n 1
b expr 7 '*' 6; b factor 1234567890123 600851475143; b seq -s, 1 3 20
b date -u -d @1000000000; b cal 2 2024
b vi -h 2>&1 | b head -n 1; b no-such-command 2>&1
i=0 text=
while [ $i -lt 300 ]; do i=$((i + 1)) text="${text#????}$i"; done
echo "$text ${#text} ${text%%9*} $((0x7f << 3 | 5)) $(trap 'echo left' EXIT)"
(sleep 0.1; exit 7) & wait $!; echo "status $?"
cd / && rm -r "$work"
