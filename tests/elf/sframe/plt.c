//# about: callers are found from every instruction of the PLT, also while a function is being bound
//# matrix: kind=pie,nopie form=lazy,ibt,newer
//# except: kind=nopie form=newer -- one is enough
//# only: weld -- GNU ld 2.40 knows version 1 only; the others say nothing of the PLT
//# obj: plt.o = plt.c @clang -O1 -Wa,--gsframe,--allow-experimental-sframe -fPIC
//# link: %shared other.o -o libother.so
//# [form=lazy] link: %{kind} plt.o libother.so -z lazy
//# [form=ibt] link: %{kind} plt.o libother.so -z lazy -z ibtplt
//# [form=newer] link: %{kind} plt.o newer.o libother.so -z lazy
//# check: seg(GNU_SFRAME) == addr(.sframe)
//# [form=lazy|ibt] check: u8(addr(.sframe)+2) == 2
//# [form=newer] check: u8(addr(.sframe)+2) == 3
//# sh: llvm-readelf-22 --sframe out > sframe.txt
//# [form=lazy] file: sframe.txt => (?s)FDE Type: PCMask.*Repetitive block size: 0x10
//# run: ./out
//# stdout: other: found
//# stdout: chosen: found
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

/* They call a function by its entry, one instruction at a time. */
__asm__(".macro step function\n"
        "step_\\function:\n"
        "	sub $8, %rsp\n"
        "	pushf\n"
        "	orq $0x100, (%rsp)\n"
        "	popf\n"
        "	call \\function@PLT\n"
        "after_\\function:\n"
        "	pushf\n"
        "	andq $~0x100, (%rsp)\n"
        "	popf\n"
        "	add $8, %rsp\n"
        "	ret\n"
        "end_\\function:\n"
        ".endm\n"
        ".text\n"
        "step other\n"
        "step chosen\n");
void step_other(void), step_chosen(void);
extern char after_other[], end_other[], after_chosen[], end_chosen[];
extern char __executable_start[], etext[];

static int answer(void) { return 42; }
static int (*choose(void))(void) { return answer; }
__attribute__((ifunc("choose"), visibility("hidden"))) int chosen(void);

/* The table of stack frames: the header as the specification has it. */
static const struct header {
	uint16_t magic;
	uint8_t version, flags, abi;
	int8_t fixed_fp, fixed_ra;
	uint8_t more;
	uint32_t fdes, rows, rows_size, index, first_row;
} *table;

static int find(struct dl_phdr_info *info, size_t size, void *data) {
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == 0x6474e554)
			table = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return 1;
}

static uint32_t u32(const unsigned char *p) {
	uint32_t value;
	memcpy(&value, p, 4);
	return value;
}

/* The return address of the function around `pc`; 0 if nothing is known. Rows have offsets and numbers of a byte here. */
static uintptr_t return_address(uintptr_t pc, uintptr_t sp) {
	const unsigned char *rows = (const unsigned char *)(table + 1) + table->first_row;
	int newer = table->version == 3, size = newer ? 16 : 20, width = newer ? 8 : 4;
	for (uint32_t i = 0; i < table->fdes; i++) {
		const unsigned char *fde = (const unsigned char *)(table + 1) + table->index + i * size;
		int64_t distance = (int32_t)u32(fde);
		if (newer)
			memcpy(&distance, fde, 8);
		uintptr_t start = (uintptr_t)(table->flags & 4 ? fde : (const unsigned char *)table) + distance;
		if (pc < start || pc - start >= u32(fde + width))
			continue;
		const unsigned char *row = rows + u32(fde + width + 4), *found = 0;
		uint16_t few;
		memcpy(&few, row, 2);
		unsigned count = newer ? few : u32(fde + 12), info = newer ? row[2] : fde[16], block = newer ? row[4] : fde[17];
		uintptr_t at = info & 0x10 ? (pc - start) % block : pc - start;
		for (row += newer ? 5 : 0; count > 0 && *row <= at; count--) {
			found = row + 1;
			row = found + 1 + (*found >> 1 & 15);
		}
		if ((info & 15) || !found || (*found >> 5 & 3) || !(*found & 1))
			return 0;
		return *(uintptr_t *)(sp + (int8_t)found[1] + table->fixed_ra);
	}
	return 0;
}

static uintptr_t caller, begin, end;
static int places, lost;

static void trap(int signal, siginfo_t *info, void *context) {
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t pc = registers[REG_RIP];
	int is_here = (uintptr_t)__executable_start <= pc && pc < (uintptr_t)etext;
	if (!is_here || (begin <= pc && pc < end))
		return;
	places++;
	lost += return_address(pc, registers[REG_RSP]) != caller;
}

static void check(const char *name, void (*step)(void), char *after, char *last, int least) {
	caller = (uintptr_t)after, begin = (uintptr_t)step, end = (uintptr_t)last;
	places = lost = 0;
	step();
	printf("%s: ", name);
	if (lost || places < least)
		printf("%d places, %d lost\n", places, lost);
	else
		printf("found\n");
}

int main(void) {
	struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
	sigaction(SIGTRAP, &action, 0);
	dl_iterate_phdr(find, 0);
	check("other", step_other, after_other, end_other, 5);
	check("chosen", step_chosen, after_chosen, end_chosen, 2);
	return 0;
}
//--- other.c
int other(void) { return 0; }
//--- newer.s
// Version 3, which all of it becomes.
.globl newer
.text
newer:	ret
.section .sframe,"a",@0x6ffffff4
	.short 0xdee2
	.byte 3, 4, 3, 0, 0xf8, 0
	.long 1, 1, 8, 0, 16
	.quad newer - .
	.long 1, 0
	.short 1
	.byte 0, 0, 0
	.byte 0, 3, 8
.section .note.GNU-stack,"",@progbits
