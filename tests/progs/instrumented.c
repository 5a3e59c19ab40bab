/* SPDX-License-Identifier: MIT */
/*
 * Functions called by -finstrument-functions: they record the addresses of entered (+) and left (-)
 * functions and write them to FUNCTION_LOG at exit.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOT_LOGGED __attribute__((no_instrument_function))

void __cyg_profile_func_enter(void *function, void *caller) NOT_LOGGED;
void __cyg_profile_func_exit(void *function, void *caller) NOT_LOGGED;
static void write_log(void) __attribute__((destructor)) NOT_LOGGED;

enum { max_entries = 1 << 20 };
static struct {
	char what;
	void *function;
} entries[max_entries];
static unsigned int count;

void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	if (count < max_entries) {
		entries[count].what = '+';
		entries[count++].function = function;
	}
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)caller;
	if (count < max_entries) {
		entries[count].what = '-';
		entries[count++].function = function;
	}
}

static void write_log(void)
{
	const char *name = getenv("FUNCTION_LOG");
	FILE *file = name ? fopen(name, "w") : NULL;

	if (!file)
		return;
	for (unsigned int i = 0; i < count; i++)
		fprintf(file, "%c %p\n", entries[i].what, entries[i].function);
	fclose(file);
}
