//# about: PLT entries of i386 that are called by who does not have the GOT's base in a register find out where they are, and keep all registers
//# not: mold -- the one that is installed is built without i386
//# not: bfd -- it has text relocations for such calls, and refuses those of IFUNCs
//# not: lld -- its entries use the register all the same
//# machines: i386
//# except: machine=x86-64
//# matrix: bind=lazy,now mark=no,ibt,retpoline kind=pie,static-pie
//# except: kind=static-pie bind=now
//# obj: main.o = main.c -fPIE
//# obj: library.o = library.c -fPIC
//# [mark=ibt] sh: echo "-z force-ibt" > options
//# [mark=retpoline] sh: echo "-z retpolineplt" > options
//# [mark=no] sh: : > options
//# link: -shared -m elf_i386 -soname liblibrary.so library.o @options -z {bind} -o liblibrary.so
//# [mark=ibt] warning: file does not have the IBT property
//# [kind=pie] link: %{kind} -m elf_i386 @options -z {bind} main.o i386-plt-anywhere.o liblibrary.so
//# [kind=static-pie] link: %{kind} -m elf_i386 @options main.o i386-plt-anywhere.o library.o
//# [mark=ibt] warning: file does not have the IBT property
//# run:
//# stdout: 6 7 6 7, the same, 8
//# [mark=ibt kind=pie] disasm: .plt => endbr32
//# [mark=retpoline kind=pie] disasm: .plt => lfence
//# [mark=retpoline] sh: llvm-objdump-22 -d --section=.plt out liblibrary.so > code; ! grep -E '(jmp|call)l? +\*' code
    .text
    // Without the GOT's base in %ebx, and with arguments in registers: R_386_PC32 of an IFUNC, and of a function of a shared object.
    .macro PREPARED function
    .globl call_\function
call_\function:
    push %ebx
    mov $0x55555555, %ebx
    mov 8(%esp), %ecx
    mov $1, %eax
    mov $2, %edx
    call \function
    pop %ebx
    ret
    .endm
    PREPARED chosen
    PREPARED theirs
    // The address of a function as code knows it that is not position-independent.
    .globl address
address:
    call 1f
1:  pop %eax
    add $theirs - 1b, %eax
    ret
    .section .note.GNU-stack, "", @progbits
//--- main.c
#include <stdio.h>
typedef int Function(int, int, int) __attribute__((regparm(3)));
/* All three registers have arguments: %eax 1, %edx 2, %ecx that of the caller. */
static int __attribute__((regparm(3))) sum(int a, int d, int c) { return a + d + c; }
static void *choose(void) { return sum; }
__attribute__((visibility("hidden"), ifunc("choose"), regparm(3))) int chosen(int, int, int);
int call_chosen(int), call_theirs(int);
extern Function theirs;
Function *address(void), *of_theirs(void);
int through(Function *);
int main(void) {
  printf("%d %d ", call_chosen(3), call_theirs(3));
  printf("%d %d, ", call_chosen(3), call_theirs(3));
  printf("%s, ", address() == of_theirs() && address() == theirs ? "the same" : "not the same");
  printf("%d\n", through(address()));
  return 0;
}
//--- library.c
typedef int Function(int, int, int) __attribute__((regparm(3)));
__attribute__((regparm(3))) int theirs(int a, int d, int c) { return a + d + c + 1; }
Function *of_theirs(void) { return theirs; }
/* Called from here, an entry of the program's cannot use what this code has in registers. */
__attribute__((noinline)) int through(Function *f) { return f(2, 2, 3); }
