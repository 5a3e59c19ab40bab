// SPDX-License-Identifier: MIT
// A library that exports a function of V8, and has code without unwind information, as V8's
// built-in functions.
int _ZN2v87Isolate10GetCurrentEv(int number) {
  return number;
}

// 300 KB, and a part that is too small to be taken for them.
__asm__(".text\n\t.globl fake_builtins\nfake_builtins:\n\t.fill 307200, 1, 0x90\n\tret\n");

int behind_builtins(int number) {
  return number + 1;
}

// Between that and the small part.
__attribute__((section(".text.startup"))) int between(int number)
{
	return number + 3;
}

__asm__(".section .text.unlikely, \"ax\"\n\t.globl fake_assembly\nfake_assembly:\n\t.fill 4096, 1, 0x90\n\tret\n\t.text\n");

int last_function(int number) {
  return number + 2;
}
