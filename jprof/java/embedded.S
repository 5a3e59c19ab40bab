/* SPDX-License-Identifier: MIT */
/* The bytes of the Java part of the agent, for probes/embedded.cpp. */
        .macro  embed name, file
        .globl  \name\()_begin, \name\()_end
        .hidden \name\()_begin, \name\()_end
\name\()_begin:
        .incbin "\file"
\name\()_end:
        .endm

        .section .rodata
        embed   jprof_probe_class, PROBE_CLASS
        embed   jprof_lock_classes, LOCK_CLASSES
        embed   jprof_transformer, TRANSFORMER

        .section .note.GNU-stack, "", @progbits
