// SPDX-License-Identifier: MIT
// Writes to 40 MB of fresh memory: half with memset(), half in scan(), one byte in each page. Usage: grow
#include <stdlib.h>
#include <string.h>

#define HALF (20ul << 20)
#define PAGE 4096

/* volatile: the compiler must keep the writes, and the order of the two halves. */
__attribute__((noipa)) void scan(volatile char *memory)
{
	for (size_t i = 0; i < HALF; i += PAGE)
		memory[i] = 1;
}

int main(void)
{
	char *memory = malloc(2 * HALF);

	if (!memory)
		return 1;
	memset(memory, 1, HALF);
	scan(memory + HALF);
	free(memory);
	return 0;
}
