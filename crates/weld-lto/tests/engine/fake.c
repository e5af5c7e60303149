/* A plugin for linkers that behaves as BEHAVIOUR says. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry { int tag; union { int number; void *pointer; } value; };
struct file { const char *name; int descriptor; long offset, size; void *handle; };

static int *nowhere;
static int (*add_input_file)(const char *);
static int (*message)(int, const char *, ...);

static void crash(void)
{
	*(volatile int *)nowhere = 0;
}

static int claim(const struct file *file, int *claimed)
{
	(void)file;
	*claimed = strcmp(BEHAVIOUR, "claim-nothing") != 0;
	if (!strcmp(BEHAVIOUR, "crash-claiming"))
		crash();
	return 0;
}

static void give(const char *text, size_t size)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/made.o", getenv("TMPDIR"));
	FILE *file = fopen(path, "w");
	fwrite(text, 1, size, file);
	fclose(file);
	add_input_file(path);
}

static int compile(void)
{
	if (!strcmp(BEHAVIOUR, "crash"))
		crash();
	if (!strcmp(BEHAVIOUR, "abort"))
		abort();
	if (!strcmp(BEHAVIOUR, "exit"))
		exit(0);
	if (!strcmp(BEHAVIOUR, "killed"))
		raise(SIGKILL);
	if (!strcmp(BEHAVIOUR, "fatal"))
		message(3, "%s: %d errors", "no good", 7);
	if (!strcmp(BEHAVIOUR, "error"))
		message(2, "no %s", "good");
	if (!strcmp(BEHAVIOUR, "status"))
		return 3;
	if (!strcmp(BEHAVIOUR, "empty"))
		give("", 0);
	if (!strcmp(BEHAVIOUR, "short"))
		give("\177ELF\2\1\1", 7);
	if (!strcmp(BEHAVIOUR, "machine")) {
		char header[64] = "\177ELF\1\1\1";
		header[16] = 1;
		header[18] = 40;
		give(header, sizeof header);
	}
	if (!strcmp(BEHAVIOUR, "gone"))
		add_input_file("/no/such/object.o");
	if (!strcmp(BEHAVIOUR, "garbage"))
		/* Over all descriptors: one of them is the way to weld. */
		for (int descriptor = 3; descriptor < 256; descriptor++)
			if (write(descriptor, "garbage, and more of it", 23) == 0)
				break;
	if (!strcmp(BEHAVIOUR, "closed")) {
		for (int descriptor = 3; descriptor < 256; descriptor++)
			close(descriptor);
		pause();
	}
	if (!strcmp(BEHAVIOUR, "hang")) {
		give("left behind", 11);
		for (;;)
			pause();
	}
	if (!strcmp(BEHAVIOUR, "chatty")) {
		for (int line = 0; line < 100000; line++)
			printf("line %d\n", line);
		fflush(stdout);
		exit(1);
	}
	return 0;
}

int onload(struct entry *entry)
{
	if (!strcmp(BEHAVIOUR, "refuse"))
		return 3;
	for (; entry->tag; entry++) {
		if (entry->tag == 5)
			((int (*)(void *))entry->value.pointer)(claim);
		else if (entry->tag == 6 && strcmp(BEHAVIOUR, "no-hooks"))
			((int (*)(void *))entry->value.pointer)(compile);
		else if (entry->tag == 10)
			add_input_file = (int (*)(const char *))entry->value.pointer;
		else if (entry->tag == 11)
			message = (int (*)(int, const char *, ...))entry->value.pointer;
	}
	return 0;
}

__attribute__((constructor)) static void load(void)
{
	if (!strcmp(BEHAVIOUR, "hang-loading"))
		for (;;)
			pause();
	if (!strcmp(BEHAVIOUR, "exit-loading"))
		_exit(5);
}
