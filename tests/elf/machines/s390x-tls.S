//# about: the models of thread-local storage of s390x give the same address in every kind of output, whatever they become
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: s390x
//# except: machine=x86-64
//# matrix: kind=nopie,pie,static
//# obj: fixed.o = fixed.S
//# obj: other.o = other.S
//# obj: main.o = main.c
//# link: -shared -m elf64_s390 -soname libother.so other.o -o libother.so
//# [kind=nopie|pie] link: %{kind} -m elf64_s390 main.o s390x-tls.o fixed.o libother.so
//# [kind=static] link: %{kind} -m elf64_s390 main.o s390x-tls.o fixed.o other.o
//# run:
//# stdout: 8 ways to 41, 5 ways to 42, 5 ways to 43
// Executables know their own variables, and the offsets of others from the thread pointer.
//# [kind=nopie|pie] reloc: R_390_TLS_TPOFF sym=theirs count=1
//# [kind=nopie|pie] no-reloc: R_390_TLS_DTPMOD
//# [kind=nopie|pie] no-reloc: R_390_TLS_TPOFF sym=own
// Nothing loads the offset of `own`, and nothing is called for it.
//# disasm: own1 => (?s)lgrl.*(jgnop|brcl +0)
//# disasm: own2 => (?s)lgrl.*sllg +%r2, %r1, 0
//# disasm: own3 => lgfi +%r2
//# disasm: own6 => (?s)lgrl.*(jgnop|brcl +0)
// That of `mine` is loaded by who cannot do without, and so by all.
//# disasm: mine4 => (?s)larl.*lg +%r2, 0\(%r1\)
//# disasm: mine2 => lg +%r2, 0\(%r1,%r12\)
// Shared objects leave all to the loader.
//# [kind=pie] link: -shared -m elf64_s390 -z notext s390x-tls.o fixed.o -o libtls.so
//# [kind=pie] reloc: R_390_TLS_DTPMOD sym=theirs
//# [kind=pie] reloc: R_390_TLS_DTPOFF sym=theirs
//# [kind=pie] reloc: R_390_TLS_TPOFF sym=theirs
//# [kind=pie] dynamic: FLAGS STATIC_TLS
//# [kind=pie] obj: user.o = main.c -DSHARED
//# [kind=pie] link: %{kind} -m elf64_s390 user.o libtls.so libother.so
//# [kind=pie] run:
//# [kind=pie] stdout: 8 ways to 41, 5 ways to 42, 5 ways to 43
#include "ways.h"
    .section .tdata, "awT", @progbits
    .globl mine, own
    .type mine, @object
    .type own, @object
    .size mine, 4
    .size own, 4
    .zero 8
mine: .long 41
own: .long 42
    .text
#define SHARED_WAYS(name, x) \
    WAY(name##1) lgrl %r2, 9f; brasl %r14, __tls_get_offset@PLT:tls_gdcall:x; END LITERAL(x@TLSGD) \
    WAY(name##2) lgrl %r1, 9f; lg %r2, 0(%r1,%r12):tls_load:x; END LITERAL(x@GOTNTPOFF) \
    WAY(name##3) lgrl %r2, x@INDNTPOFF; END
#define SLOT_WAYS(name, x) \
    WAY(name##4) larl %r1, x@INDNTPOFF; lg %r2, 0(%r1):tls_load:x; END \
    WAY(name##5) lg %r2, x@GOTNTPOFF(%r12); END
#define OWN_WAYS(name, x) \
    WAY(name##6) lgrl %r2, 9f; brasl %r14, __tls_get_offset@PLT:tls_ldcall:x; lgrl %r1, 8f; la %r2, 0(%r1,%r2); END \
        LITERAL(x@TLSLDM) OFFSET(x@DTPOFF) \
    WAY(name##7) lgrl %r2, 9f; END LITERAL(x@NTPOFF)
SHARED_WAYS(mine, mine)
SLOT_WAYS(mine, mine)
OWN_WAYS(mine, mine)
SHARED_WAYS(own, own)
OWN_WAYS(own, own)
SHARED_WAYS(theirs, theirs)
SLOT_WAYS(theirs, theirs)
    .section .note.GNU-stack, "", @progbits
//--- fixed.S
    // A slot that is named by its address.
#include "ways.h"
    .text
WAY(mine8) lgrl %r1, 9f; lg %r2, 0(%r1):tls_load:mine; END LITERAL(mine@INDNTPOFF)
    .section .note.GNU-stack, "", @progbits
//--- ways.h
    /* A function that computes an offset in %r2, with the base of the GOT in %r12, and adds the thread pointer. */
#define WAY(name) .globl name; .type name, @function; .balign 8; name: \
    stmg %r6, %r15, 48(%r15); aghi %r15, -160; larl %r12, _GLOBAL_OFFSET_TABLE_; \
    ear %r9, %a0; sllg %r9, %r9, 32; ear %r9, %a1;
#define END la %r2, 0(%r2,%r9); lmg %r6, %r15, 208(%r15); br %r14;
#define LITERAL(value) .section .data.rel.ro, "aw"; .balign 8; 9: .quad value; .text;
#define OFFSET(value) .section .data.rel.ro, "aw"; .balign 8; 8: .quad value; .text;
//--- other.S
    .section .tdata, "awT", @progbits
    .zero 4
    .globl theirs
    .type theirs, @object
    .size theirs, 4
theirs: .long 43
    .section .note.GNU-stack, "", @progbits
//--- main.c
#include <pthread.h>
#include <stdio.h>
typedef int *Way(void);
extern Way mine1, mine2, mine3, mine4, mine5, mine6, mine7, own1, own2, own3, own6, own7;
extern Way theirs1, theirs2, theirs3, theirs4, theirs5;
extern Way mine8 __attribute__((weak));
extern __thread int mine, theirs;
#ifndef SHARED
__attribute__((tls_model("local-exec")))
#endif
extern __thread int own;
static int count(Way *const *ways, int *wanted) {
  int good = 0;
  for (; *ways; ways++) {
    if ((*ways)() == wanted) good++;
    else printf("a way to %d: %p, not %p\n", *wanted, (void *)(*ways)(), (void *)wanted);
  }
  return good;
}
static void *run(void *print) {
  Way *const to_mine[] = {mine1, mine2, mine3, mine4, mine5, mine6, mine7, mine8, 0};
  Way *const to_own[] = {own1, own2, own3, own6, own7, 0};
  Way *const to_theirs[] = {theirs1, theirs2, theirs3, theirs4, theirs5, 0};
  int to[3] = {count(to_mine, &mine), count(to_own, &own), count(to_theirs, &theirs)};
  if (print) printf("%d ways to %d, %d ways to %d, %d ways to %d\n", to[0], mine, to[1], own, to[2], theirs);
  return 0;
}
int main(void) {
  pthread_t thread;
  run(0);
  pthread_create(&thread, 0, run, &thread);
  return pthread_join(thread, 0);
}
