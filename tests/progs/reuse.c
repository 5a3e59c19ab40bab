// SPDX-License-Identifier: MIT
// Loads and unloads two libraries in turn so that each is mapped at the other's old address, and
// prints the truth: a line "BEGIN END LIBRARY ADDRESS" for each stay, times in nanoseconds of
// CLOCK_MONOTONIC. Usage: reuse LIBRARY LIBRARY COUNT ROUNDS
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long long nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	for (int i = 0; i < atoi(argv[3]); i++) {
		const char *name = argv[1 + i % 2];
		unsigned long long begin = nanoseconds();
		void *library = dlopen(name, RTLD_NOW);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		void (*work)(unsigned long) = (void (*)(unsigned long))dlsym(library, "library_work");
		struct link_map *map = library;
		unsigned long address = map->l_addr;

		work(strtoul(argv[4], NULL, 10));
		dlclose(library);
		printf("%llu %llu %s %lx\n", begin, nanoseconds(), name, address);
	}
	return 0;
}
