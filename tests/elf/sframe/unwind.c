//# about: a program finds its callers by its .sframe, at several depths and with frames of several kinds
//# matrix: kind=pie,nopie,static,static-pie cc=gcc,clang libc=glibc
//# except: kind=static-pie cc=clang -- one is enough
//# machines: aarch64
//# except: cc=clang machine=aarch64 -- clang 22 makes none for it
//# [cc=gcc] cflags: -Wa,--gsframe -fPIC
//# [cc=clang] cflags: -Wa,--gsframe,--allow-experimental-sframe -fPIC
//# only: weld bfd -- mold and lld do not make one table of all
//# except: cc=clang bfd -- version 2 is newer than GNU ld 2.40
//# link: %{kind} unwind.o more.o
//# segment: GNU_SFRAME flags=R count=1
//# section: .sframe flags=A
//# check: seg(GNU_SFRAME) == addr(.sframe)
//# check: u8(addr(.sframe)+3) & 1 == 1
//# [cc=gcc] check: u8(addr(.sframe)+2) == 1
//# [cc=clang] check: u8(addr(.sframe)+2) == 2
//# run: ./out
//# stdout: 8 callers found
//# [kind=pie] link: %shared more.o -o libmore.so
//# [kind=pie] check: seg(GNU_SFRAME) == addr(.sframe)
//# [kind=pie] link: %pie unwind.o libmore.so -o across
//# [kind=pie] run: ./across
//# [kind=pie] stdout: 8 callers found
#define _GNU_SOURCE
#include <alloca.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "more.h"

void *callers[32];
int depth;

/* The table of stack frames around an address: the header as the specification has it. */
struct header {
	uint16_t magic;
	uint8_t version, flags, abi;
	int8_t fixed_fp, fixed_ra;
	uint8_t more;
	uint32_t fdes, rows, rows_size, index, first_row;
};
struct lookup {
	uintptr_t pc;
	const struct header *table;
};
struct frame {
	uintptr_t pc, sp, fp;
};

static int in_module(struct dl_phdr_info *info, size_t size, void *data) {
	struct lookup *lookup = data;
	const struct header *table = 0;
	int is_here = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && start <= lookup->pc && lookup->pc < start + p->p_memsz)
			is_here = 1;
		if (p->p_type == 0x6474e554)
			table = (const void *)start;
	}
	if (is_here)
		lookup->table = table;
	return is_here;
}

static uint32_t u32(const unsigned char *p) {
	uint32_t value;
	memcpy(&value, p, 4);
	return value;
}

static long number(const unsigned char *p, int size) {
	int16_t two;
	int32_t four;
	memcpy(&two, p, size == 2 ? 2 : 1);
	memcpy(&four, p, size == 4 ? 4 : 1);
	return size == 1 ? (int8_t)*p : size == 2 ? two : four;
}

/* Goes to the caller; 0 if nothing is known of the function. */
static int step(struct frame *frame, int is_caller) {
	struct lookup lookup = {frame->pc - is_caller, 0};
	dl_iterate_phdr(in_module, &lookup);
	const struct header *table = lookup.table;
	if (!table || table->magic != 0xdee2)
		return 0;
	const unsigned char *after = (const unsigned char *)(table + 1), *index = after + table->index;
	int size = table->version == 1 ? 17 : 20;
	/* The last function that does not begin after the address. */
	uint32_t low = 0, high = table->fdes;
	uintptr_t start = 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const unsigned char *fde = index + middle * size;
		start = (uintptr_t)(table->flags & 4 ? fde : (const unsigned char *)table) + (int32_t)u32(fde);
		if (start <= lookup.pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	const unsigned char *fde = index + (low - 1) * size;
	start = (uintptr_t)(table->flags & 4 ? fde : (const unsigned char *)table) + (int32_t)u32(fde);
	if (lookup.pc - start >= u32(fde + 4))
		return 0;
	const unsigned char *row = after + table->first_row + u32(fde + 8), *found = 0;
	int place_size = 1 << (fde[16] & 15);
	for (uint32_t i = u32(fde + 12); i > 0; i--) {
		uint32_t place = 0;
		memcpy(&place, row, place_size);
		if (start + place > lookup.pc)
			break;
		found = row + place_size;
		row = found + 1 + (*found >> 1 & 15) * (1 << (*found >> 5 & 3));
	}
	if (!found)
		return 0;
	int width = 1 << (*found >> 5 & 3), count = *found >> 1 & 15, next = 1;
	const unsigned char *numbers = found + 1;
	uintptr_t cfa = (*found & 1 ? frame->sp : frame->fp) + number(numbers, width);
	long ra = table->fixed_ra, fp = table->fixed_fp;
	if (!ra) {
		if (next == count)
			return 0;
		ra = number(numbers + width * next++, width);
	}
	if (!fp && next < count)
		fp = number(numbers + width * next, width);
	frame->sp = cfa;
	frame->pc = *(uintptr_t *)(cfa + ra);
	if (fp)
		frame->fp = *(uintptr_t *)(cfa + fp);
	return 1;
}

__attribute__((noinline)) int walk(int n) {
	struct frame frame;
	callers[depth++] = __builtin_return_address(0);
#ifdef __x86_64__
	__asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
	                 : "=&r"(frame.pc), "=&r"(frame.sp), "=&r"(frame.fp));
#else
	__asm__ volatile("adr %0, .; mov %1, sp; mov %2, x29" : "=&r"(frame.pc), "=&r"(frame.sp), "=&r"(frame.fp));
#endif
	int found = 0;
	while (step(&frame, found > 0)) {
		if (found == depth || frame.pc != (uintptr_t)callers[depth - 1 - found]) {
			printf("caller %d is %p, not %p\n", found, (void *)frame.pc, callers[depth - 1 - found]);
			return 0;
		}
		found++;
	}
	printf("%d callers found\n", found);
	return n;
}

/* A frame of no fixed size. */
__attribute__((noinline)) int variable(int n) {
	callers[depth++] = __builtin_return_address(0);
	char *room = alloca(n * 40);
	memset(room, n, n * 40);
	int result = deep(n, walk);
	return result + room[n];
}

int main(int argc, char **argv) {
	callers[depth++] = __builtin_return_address(0);
	return large(argc) == 0;
}
//--- more.h
extern void *callers[];
extern int depth;
int large(int), variable(int), deep(int, int (*)(int));
//--- more.c
#include <string.h>
#include "more.h"

/* A large frame. */
__attribute__((noinline)) int large(int n) {
	callers[depth++] = __builtin_return_address(0);
	volatile char room[3000];
	memset((char *)room, n, sizeof room);
	return variable(n + 2) + room[n];
}

/* Itself again, then another. */
__attribute__((noinline)) int deep(int n, int (*last)(int)) {
	callers[depth++] = __builtin_return_address(0);
	volatile int mine = n;
	int result = n > 0 ? deep(n - 1, last) : last(n + 7);
	return result + mine;
}
