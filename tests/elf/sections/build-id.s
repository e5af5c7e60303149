//# about: --build-id kinds: lengths, stability, dependence on the contents
//# matrix: kind=fast,md5,sha1,uuid,0x0123456789abcdef,none,plain
//# [kind=plain] link: build-id.o --build-id -o out
//# [!kind=plain|uuid] link: build-id.o --build-id={kind}
//# [kind=uuid] link: build-id.o --build-id={kind}
//# [kind=uuid] once
//# [kind=fast lld] build-id: 8
//# [kind=plain !lld !mold] build-id: 20
//# [kind=md5] build-id: 16
//# [kind=sha1] build-id: 20
//# [kind=uuid] build-id: 16
//# [kind=0x0123456789abcdef] build-id: = 0123456789abcdef
//# [kind=none] no-section: .note.gnu.build-id
//# [kind=md5|sha1] sh: mv out first
//# [kind=md5|sha1] link: build-id.o other.o --build-id={kind} -o out
//# [kind=md5|sha1] sh: ! cmp -s <(llvm-readelf-22 -n first | grep Build) <(llvm-readelf-22 -n out | grep Build)
//# [kind=fast] not: bfd mold -- no such kind there
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- other.s
.data
.quad 1
.section .note.GNU-stack,"",@progbits
