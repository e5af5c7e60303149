//# about: an output that is a symbolic link, or has other names, is replaced; its modes are those of a new file
//# not: mold -- writes through links, and so into other names of the file
//# sh: bash links.sh links.o
//# [!bfd] sh: ln -s nowhere dangling; $LD links.o -o dangling && test ! -L dangling && test ! -e nowhere
int main(void) { return 0; }
void _start(void) {}
//--- links.sh
set -e
echo target > target; ln -s target symbolic
echo first > first; ln first second; chmod 640 first
echo locked > locked; chmod 400 locked
for name in symbolic first locked; do
    $LD links.o -o $name
    test ! -L $name
    cmp -s $name symbolic
    test "$(stat -c %a $name)" = 755 || { stat -c '%a %n' $name; exit 1; }
done
test "$(cat target)" = target
test "$(cat second)" = first
test "$(stat -c %h first)" = 1
(umask 077; $LD links.o -o private; test "$(stat -c %a private)" = 700)
(umask 027; $LD links.o -o group; test "$(stat -c %a group)" = 750; $LD links.o -r -o object; test "$(stat -c %a object)" = 640)
