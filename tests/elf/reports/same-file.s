//# about: a report takes the place of no input, of no other report and not of the output, by whatever path
//# only: weld -- others write one over the other
//# sh: ls same-file.o && ar rcs libm.a member.o; timeout 60 bash try
.globl _start
_start: call member
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl member
member: ret
.section .note.GNU-stack,"",@progbits
//--- v.ver
V1 { local: *; };
//--- try
mkdir d && ln -s ../libm.a d/link && ln v.ver hard && ln -s . here
cp libm.a libm.before && cp v.ver v.before && cp same-file.o same.before
printf OLD >o
refused() {
  text=$1; shift
  if $LD same-file.o libm.a "$@" -o o 2>err; then echo "$*: no error"; exit 1; fi
  if ! grep -q "error: $text" err || [ "$(grep -c error: err)" != 1 ]; then echo "$*:"; cat err; exit 1; fi
  if [ "$(cat o)" != OLD ]; then echo "$*: the old output is gone"; exit 1; fi
  cmp libm.a libm.before && cmp v.ver v.before && cmp same-file.o same.before || exit 1
  if ls -A | grep weld-; then exit 1; fi
}
for option in -Map --why-extract --print-gc-sections --time-trace --dependency-file --reproduce; do
  name=--$(echo "$option" | sed 's/^-*//')
  refused "the output and $name would be the same file, here/o" $option=here/o
  refused "$name would replace same-file.o, which is an input" $option=./same-file.o
  refused "$name would replace libm.a, which is an input" $option=d/link
  refused "$name would replace v.ver, which is an input" $option=hard --version-script=v.ver
done
refused "--Map and --time-trace would be the same file, here/new" -Map=new --time-trace=here/new
refused "--why-extract and --reproduce would be the same file, new" --reproduce=new --why-extract=new
test ! -e new || exit 1
# Several may go to one device, and standard output is for all but the output.
$LD same-file.o libm.a -Map=/dev/null --time-trace=/dev/null -o /dev/null
if $LD same-file.o libm.a -o - -t >p 2>err; then exit 1; fi
grep 'error: --trace and the output would both go to standard output' err
# Without the output's name in between, an output may well take an input's place.
cp same-file.o in.o && $LD -r in.o -o in.o && ! cmp -s in.o same-file.o
