// SPDX-License-Identifier: MIT
// Executes any number of functions, each of which causes exactly one page fault at its first
// instruction, so that the samples of 'perf record -e page-faults:u -c 1' are known.
//
// Usage: many_symbols FILE COUNT [AGAIN]
// FILE becomes an ELF file with the functions, or is "-": then they are in anonymous memory, as
// code of a just-in-time compiler is, and /tmp/perf-PID.map has their names. The last AGAIN
// functions run twice.
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A read of the page at rdi, then rdi += rsi; the next function follows. */
static const unsigned char function[8] = {0x8a, 0x07, 0x48, 0x01, 0xf7, 0x0f, 0x1f, 0x00};
/* A read, then a return: the last one of a part, whose pages are then used again. */
static const unsigned char last_function[8] = {0x8a, 0x07, 0xc3};
#define PART 4096ul /* functions, and pages */
#define NAME_FORMAT "number_%08lu_of_many"
#define NAME_BYTES sizeof("number_00000000_of_many")

enum { page = 4096 };

typedef void functions_from(const char *data, unsigned long step);

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void put(FILE *file, const void *bytes, size_t size)
{
	if (fwrite(bytes, size, 1, file) != 1)
		fail("many_symbols");
}

static size_t code_bytes(unsigned long count)
{
	return (count * sizeof function / page + 1) * page;
}

static void put_code(unsigned char *to, unsigned long count)
{
	for (unsigned long i = 0; i < count; ++i)
		memcpy(to + i * sizeof function,
		       i % PART == PART - 1 || i == count - 1 ? last_function : function,
		       sizeof function);
}

/* Executes the functions from first on. */
static void execute(const unsigned char *code, unsigned long first, unsigned long count)
{
	char *data = mmap(NULL, PART * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		fail("mmap");
	madvise(data, PART * page, MADV_NOHUGEPAGE);
	while (first < count) {
		((functions_from *)(void *)(code + first * sizeof function))(data, page);
		first = (first / PART + 1) * PART;
		madvise(data, PART * page, MADV_DONTNEED);
	}
	munmap(data, PART * page);
}

enum { none, text, symbols, names, section_names, sections };

/* One page of headers, the code, symbols and names, the section headers. */
static void write_elf(const char *path, unsigned long count)
{
	static const char words[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
	const size_t code = code_bytes(count);
	const size_t symbols_at = page + code;
	const size_t symbols_size = (count + 1) * sizeof(Elf64_Sym);
	const size_t names_at = symbols_at + symbols_size;
	const size_t names_size = 1 + count * NAME_BYTES;
	const size_t words_at = names_at + names_size;
	const size_t sections_at = (words_at + sizeof words + 7) / 8 * 8;
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof head,
		.e_shoff = sections_at,
		.e_ehsize = sizeof head,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = sections,
		.e_shstrndx = section_names,
	};
	const Elf64_Phdr load = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = page,
		.p_vaddr = page,
		.p_paddr = page,
		.p_filesz = code,
		.p_memsz = code,
		.p_align = page,
	};
	const Elf64_Shdr table[sections] = {
		[text] = {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			  .sh_addr = page, .sh_offset = page, .sh_size = code, .sh_addralign = 16},
		[symbols] = {.sh_name = 7, .sh_type = SHT_SYMTAB, .sh_offset = symbols_at,
			     .sh_size = symbols_size, .sh_link = names, .sh_info = 1,
			     .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym)},
		[names] = {.sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = names_at,
			   .sh_size = names_size, .sh_addralign = 1},
		[section_names] = {.sh_name = 23, .sh_type = SHT_STRTAB, .sh_offset = words_at,
				   .sh_size = sizeof words, .sh_addralign = 1},
	};
	unsigned char *bytes = calloc(1, code);
	FILE *file = fopen(path, "w");

	if (!bytes || !file)
		fail(path);
	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + sizeof head, &load, sizeof load);
	put(file, bytes, page);
	put_code(bytes, count);
	put(file, bytes, code);
	free(bytes);
	put(file, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
	for (unsigned long i = 0; i < count; ++i) {
		const Elf64_Sym symbol = {
			.st_name = (Elf64_Word)(1 + i * NAME_BYTES),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = text,
			.st_value = page + i * sizeof function,
			.st_size = sizeof function,
		};
		put(file, &symbol, sizeof symbol);
	}
	put(file, "", 1);
	for (unsigned long i = 0; i < count; ++i) {
		char name[NAME_BYTES + 16];

		snprintf(name, sizeof name, NAME_FORMAT, i);
		put(file, name, NAME_BYTES);
	}
	put(file, words, sizeof words);
	for (size_t at = words_at + sizeof words; at < sections_at; ++at)
		put(file, "", 1);
	put(file, table, sizeof table);
	if (fclose(file) != 0)
		fail(path);
}

static unsigned char *map_elf(const char *path, unsigned long count)
{
	FILE *file = fopen(path, "r");
	unsigned char *code;

	if (!file)
		fail(path);
	code = mmap(NULL, code_bytes(count), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), page);
	if (code == MAP_FAILED)
		fail(path);
	/* Faults of the code itself come now, and not in its functions. */
	madvise(code, code_bytes(count), MADV_POPULATE_READ);
	fclose(file);
	return code;
}

static unsigned char *make_code(unsigned long count)
{
	char path[64];
	FILE *map;
	unsigned char *code = mmap(NULL, code_bytes(count), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		fail("mmap");
	put_code(code, count);
	if (mprotect(code, code_bytes(count), PROT_READ | PROT_EXEC) != 0)
		fail("mprotect");
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		fail(path);
	for (unsigned long i = 0; i < count; ++i)
		fprintf(map, "%lx %zx " NAME_FORMAT "\n", (unsigned long)(code + i * sizeof function),
			sizeof function, i);
	if (fclose(map) != 0)
		fail(path);
	return code;
}

int main(int argc, char **argv)
{
	const unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const unsigned long again = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	unsigned char *code;

	if (count == 0 || count > 99999999 || again > count) {
		fprintf(stderr, "Usage: many_symbols FILE COUNT [AGAIN]\n");
		return 255;
	}
	if (strcmp(argv[1], "-") != 0) {
		write_elf(argv[1], count);
		code = map_elf(argv[1], count);
	} else {
		code = make_code(count);
	}
	execute(code, 0, count);
	execute(code, count - again, count);
	printf("%d %lu\n", (int)getpid(), count + again);
	return 0;
}
