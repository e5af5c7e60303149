//# about: the most constraining visibility of all objects' views wins
//# link: -shared visibility-merge.o b.o
//# no-dynsym: hidden_by_ref internal_by_ref
//# dynsym: protected_by_ref vis=PROTECTED
//# dynsym: plain vis=DEFAULT
//# [!bfd] symbol: hidden_by_ref vis=HIDDEN bind=LOCAL
//# [!mold] symbol: protected_by_ref vis=PROTECTED
//# symbol: plain vis=DEFAULT
.text
.globl hidden_by_ref, internal_by_ref, protected_by_ref, plain
hidden_by_ref:
internal_by_ref:
protected_by_ref:
plain: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.text
.globl user
user:
  call hidden_by_ref
  call internal_by_ref
  call protected_by_ref
  call plain@PLT
.hidden hidden_by_ref
.internal internal_by_ref
.protected protected_by_ref
.section .note.GNU-stack,"",@progbits
