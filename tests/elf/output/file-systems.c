//# about: both engines write the same bytes on each file system, for each kind of output; streaming where few threads are not asked
//# only: weld -- its engines
//# cflags: -g -fPIC
//# link: file-systems.o %pie -o pie --build-id
//# link: file-systems.o %static -o static --build-id=sha1
//# link: file-systems.o %shared -o shared --build-id=md5
//# link: file-systems.o -r -o relocatable --build-id
//# link: file-systems.o %shared -o packed --compress-debug-sections=zlib
//# sh: bash each.sh file-systems.o

#include <stdio.h>
char table[2000003] = {1};
int main(void) { puts(table); return 0; }
//--- each.sh
# Mounts belong to this shell alone and go away with it.
if [ -z "$INSIDE" ]; then
    unshare -m true 2>/dev/null || { echo 'cannot mount here'; exit 0; }
    INSIDE=1 exec unshare -m bash each.sh "$@"
fi
mkdir -p at lower
mount_image() { # TYPE OPTIONS MKFS...
    local type=$1 options=$2
    shift 2
    command -v $1 >/dev/null || return
    rm -f image && truncate -s 300M image && "$@" image >/dev/null 2>&1 && mount -t $type -o loop,$options image at 2>/dev/null
}
mount_it() {
    case $1 in
    tmpfs) mount -t tmpfs tmpfs at ;;
    ext4) mount_image ext4 defaults mkfs.ext4 -q ;;
    btrfs) mount_image btrfs compress-force=zstd mkfs.btrfs -q ;;
    xfs) mount_image xfs defaults mkfs.xfs -q ;;
    overlay)
        mount -t tmpfs tmpfs lower && mkdir lower/{low,up,work} &&
            mount -t overlay -o lowerdir=lower/low,upperdir=lower/up,workdir=lower/work overlay at 2>/dev/null
        ;;
    esac
}
check() { # FILESYSTEM KIND ARGS...
    local system=$1 output=$2 engine kind
    shift 2
    for engine in '' --mmap-output-file --no-mmap-output-file; do
        echo old > at/out
        $LD "$@" $engine --verbose -o at/out > log || exit 1
        cmp at/out reference || { echo "$output differs on $system with ${engine:-auto}"; exit 1; }
        case $engine in
        --mmap*) grep -q 'output engine: Mapped' log || { cat log; exit 1; } ;;
        *) grep -q 'output engine: Streaming' log || { cat log; exit 1; } ;;
        esac
        test "$(ls -A at | grep -v lost+found)" = out || { ls -A at; exit 1; }
    done
    # Many threads fill a mapping where the file system is fit for one.
    case $system in tmpfs | ext4 | xfs) kind=Mapped ;; *) kind=Streaming ;; esac
    $LD "$@" --threads=16 --verbose -o at/out > log && cmp at/out reference && grep -q "output engine: $kind" log || { cat log; exit 1; }
    [ $system != btrfs ] || { $LD "$@" --verbose -o at/out | grep 'each block is written once' >/dev/null; } || exit 1
}
kinds() { # FILESYSTEM (empty: makes the references)
    while read -r kind args; do
        if [ -z "$1" ]; then
            $LD $args -o $kind.reference || exit 1
        else
            cp $kind.reference reference
            check $1 $kind $args
        fi
    done <<END
executable file-systems.o -e main --no-pie --unresolved-symbols=ignore-all
position-independent file-systems.o -e main -pie --unresolved-symbols=ignore-all --build-id
shared file-systems.o -shared --build-id=md5
relocatable file-systems.o -r --build-id=sha1
compressed file-systems.o -shared --compress-debug-sections=zlib --build-id
END
}
kinds ''
mounted=
for system in tmpfs ext4 btrfs xfs overlay; do
    mount_it $system || { echo "cannot mount $system"; continue; }
    mounted+=" $system"
    kinds $system
    umount at
done
echo "tested:$mounted"
