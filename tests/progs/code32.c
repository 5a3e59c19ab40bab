// SPDX-License-Identifier: MIT
// A 32-bit program without libraries: burns for some hundred milliseconds and exits. Usage: code32
// ROUNDS-IN-MILLIONS
typedef unsigned int word;

__attribute__((noipa)) void work_of_32_bits(word rounds)
{
	__asm__ volatile(".p2align 6\n1:\tdec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

__attribute__((noipa, used)) static void run(const word *stack)
{
	const char *text = stack[0] > 1 ? (const char *)stack[2] : "";
	word millions = 0;

	while (*text >= '0' && *text <= '9')
		millions = millions * 10 + (word)(*text++ - '0');
	while (millions-- > 0)
		work_of_32_bits(1000000);
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}

__asm__(".globl _start\n_start:\tmovl %esp, %eax\n\tpushl %eax\n\tcall run\n");
