/* SPDX-License-Identifier: MIT */
/* The bytes of template.html, for embedded.cpp. */
        .section .rodata
        .globl  page_template_begin, page_template_end
        .hidden page_template_begin, page_template_end
page_template_begin:
        .incbin PAGE_TEMPLATE
page_template_end:

        .section .note.GNU-stack, "", @progbits
