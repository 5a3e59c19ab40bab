// SPDX-License-Identifier: GPL-2.0-only
/* Classifies an instruction for which eight bytes are not enough or cannot all be read. */

#include "itrace_x86.h"

u8 pitrace_it_fetch_rest_of_page(u64 ip, u8 *code)
{
	const u32 rest = PAGE_SIZE - offset_in_page(ip);

	return rest < 8 && !copy_from_user_nofault(code, (void __user *)ip, rest) ? rest : 0;
}

/* A ninth byte matters only after many prefixes, or at the end of a page. */
struct pitrace_insn pitrace_it_classify_long(u64 ip, bool user, bool is64)
{
	u8 code[PITRACE_INSN_MAX];
	u32 length = sizeof(code);
	struct pitrace_insn none = { .kind = PITRACE_INSN_CUT, .is64 = is64 };

	if (user ? copy_from_user_nofault(code, (void __user *)ip, length) :
		   copy_from_kernel_nofault(code, (void *)ip, length)) {
		length = min_t(u32, length, PAGE_SIZE - offset_in_page(ip));
		if (user ? copy_from_user_nofault(code, (void __user *)ip, length) :
			   copy_from_kernel_nofault(code, (void *)ip, length))
			return none;
	}
	return pitrace_classify(code, length, is64);
}
