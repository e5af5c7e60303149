//# about: the models of thread-local storage of i386, in both dialects, give the same address in every kind of output, whatever they become
//# not: mold -- the one that is installed is built without i386
//# not: lld -- it does not know Sun's initial-exec model
//# machines: i386
//# except: machine=x86-64
//# matrix: kind=nopie,pie,static,static-pie
//# obj: fixed.o = fixed.S
//# obj: other.o = other.S
//# obj: main.o = main.c
//# link: -shared -m elf_i386 -soname libother.so other.o -o libother.so
//# [kind=nopie|pie] link: %{kind} -m elf_i386 main.o i386-tls.o fixed.o libother.so
//# [kind=static|static-pie] link: %{kind} -m elf_i386 main.o i386-tls.o fixed.o other.o
//# run:
//# stdout: 16 ways to 42, 8 ways to 43
// Executables know their own variables, and the offsets of others from the thread pointer.
//# [kind=nopie|pie] reloc: R_386_TLS_TPOFF sym=theirs count=1
//# [kind=nopie|pie] reloc: R_386_TLS_TPOFF32 sym=theirs count=1
//# [kind=nopie|pie] no-reloc: R_386_TLS_DTPMOD32
//# [kind=nopie|pie] no-reloc: R_386_TLS_DESC
//# [kind=static|static-pie] no-reloc: R_386_TLS_TPOFF
// Shared objects leave all to the loader.
//# [kind=nopie|pie] link: -shared -m elf_i386 -z notext i386-tls.o -o libtls.so
//# [kind=nopie|pie] reloc: R_386_TLS_DTPMOD32 sym=theirs
//# [kind=nopie|pie] reloc: R_386_TLS_DTPOFF32 sym=theirs
//# [kind=nopie|pie] reloc: R_386_TLS_DESC sym=theirs
//# [kind=nopie|pie] reloc: R_386_TLS_TPOFF sym=theirs
//# [kind=nopie|pie] reloc: R_386_TLS_TPOFF32 sym=theirs
//# [kind=nopie|pie] dynamic: FLAGS TEXTREL|STATIC_TLS
//# [kind=nopie|pie] obj: user.o = main.c -DSHARED
//# [kind=nopie|pie] link: %{kind} -m elf_i386 user.o libtls.so libother.so
//# [kind=nopie|pie] run:
//# [kind=nopie|pie] stdout: 12 ways to 42, 8 ways to 43
//# [weld kind=pie] fail: -shared -m elf_i386 i386-tls.o -o libtls.so
//# error: R_386_TLS_LE in a read-only section needs a dynamic relocation against 'mine'
//# [weld kind=pie] fail: -shared -m elf_i386 -z notext fixed.o -o libtls.so
//# error: R_386_TLS_LE_32 cannot be used against symbol 'mine' with -shared
// A call through a descriptor has one form, and another is not patched.
//# [weld kind=pie] sh: printf '.section .tdata,"awT"; x: .long 1; .text; lea x@tlsdesc(%%ebx), %%eax; call *x@tlscall(%%ecx)' | $AS - -o call.o
//# [weld kind=pie] fail: -m elf_i386 call.o
//# error: R_386_TLS_DESC_CALL against 'x' is in an unknown code sequence
#include "ways.h"
    .section .tdata, "awT", @progbits
    .globl mine
    .type mine, @object
    .size mine, 4
    .zero 8
mine: .long 42
    .text
    // General dynamic, as it is called in three ways.
#define GENERAL(name, x) \
    WAY(name##1) lea x@tlsgd(,%ebx), %eax; call ___tls_get_addr@PLT; END \
    WAY(name##2) lea x@tlsgd(%ebx), %eax; call ___tls_get_addr@PLT; nop; END \
    WAY(name##3) lea x@tlsgd(%ebx), %eax; call *___tls_get_addr@GOT(%ebx); END
    // Initial exec, descriptors, Sun's initial exec.
#define INITIAL(name, x) \
    WAY(name##4) mov x@gotntpoff(%ebx), %ecx; mov %gs:0, %eax; add %ecx, %eax; END \
    WAY(name##5) mov %gs:0, %eax; add x@gotntpoff(%ebx), %eax; END \
    WAY(name##6) lea x@tlsdesc(%ebx), %eax; call *x@tlscall(%eax); add %gs:0, %eax; END \
    WAY(name##7) mov %gs:0, %eax; sub x@gottpoff(%ebx), %eax; END \
    WAY(name##16) mov x@gottpoff(%ebx), %ecx; mov %gs:0, %eax; sub %ecx, %eax; END
GENERAL(mine, mine)
INITIAL(mine, mine)
GENERAL(theirs, theirs)
INITIAL(theirs, theirs)
    // Local dynamic, local exec.
WAY(mine8) lea mine@tlsldm(%ebx), %eax; call ___tls_get_addr@PLT; lea mine@dtpoff(%eax), %eax; END
WAY(mine9) lea mine@tlsldm(%ebx), %eax; call *___tls_get_addr@GOT(%ebx); lea mine@dtpoff(%eax), %eax; END
WAY(mine10) mov %gs:0, %eax; add $mine@ntpoff, %eax; END
WAY(mine11) mov %gs:0, %eax; lea mine@ntpoff(%eax), %eax; END
    .section .note.GNU-stack, "", @progbits
//--- fixed.S
    // Sun's local exec and initial exec, and slots that are named by their addresses.
#include "ways.h"
    .text
WAY(mine12) mov %gs:0, %eax; sub $mine@tpoff, %eax; END
WAY(mine13) mov mine@gottpoff(%ebx), %ecx; mov %gs:0, %eax; sub %ecx, %eax; END
WAY(mine14) mov mine@indntpoff, %eax; add %gs:0, %eax; END
WAY(mine15) mov %gs:0, %eax; add mine@indntpoff, %eax; END
    .section .note.GNU-stack, "", @progbits
//--- ways.h
    /* A function that computes an address, with the base of the GOT in %ebx. */
#define WAY(name) .globl name; .type name, @function; name: \
    push %ebx; call 1f; 1: pop %ebx; add $_GLOBAL_OFFSET_TABLE_ + (. - 1b), %ebx; sub $8, %esp;
#define END add $8, %esp; pop %ebx; ret;
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
extern Way mine1, mine2, mine3, mine4, mine5, mine6, mine7, mine8, mine9, mine10, mine11, mine12, mine13, mine14, mine15, mine16;
extern Way theirs1, theirs2, theirs3, theirs4, theirs5, theirs6, theirs7, theirs16;
extern __thread int mine, theirs;
static Way *const to_mine[] = {mine1, mine2, mine3, mine4, mine5, mine6, mine7, mine8, mine9, mine10, mine11, mine16,
#ifndef SHARED
  mine12, mine13, mine14, mine15
#endif
};
static Way *const to_theirs[] = {theirs1, theirs2, theirs3, theirs4, theirs5, theirs6, theirs7, theirs16};
static void *run(void *print) {
  int good = 0, theirs_good = 0;
  for (unsigned i = 0; i < sizeof to_mine / sizeof *to_mine; i++)
    if (to_mine[i]() == &mine) good++;
    else printf("way %u to mine: %p, not %p\n", i + 1, (void *)to_mine[i](), (void *)&mine);
  for (unsigned i = 0; i < sizeof to_theirs / sizeof *to_theirs; i++)
    if (to_theirs[i]() == &theirs) theirs_good++;
    else printf("way %u to theirs: %p, not %p\n", i + 1, (void *)to_theirs[i](), (void *)&theirs);
  if (print) printf("%d ways to %d, %d ways to %d\n", good, mine, theirs_good, theirs);
  return 0;
}
int main(void) {
  pthread_t thread;
  run(0);
  pthread_create(&thread, 0, run, &thread);
  return pthread_join(thread, 0);
}
