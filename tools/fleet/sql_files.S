/* SPDX-License-Identifier: MIT */
/* The bytes of the files in the folder sql, for sql_files.cpp. */
        .macro  query name
        .globl  fleet_sql_\name
        .hidden fleet_sql_\name
fleet_sql_\name:
        .incbin "sql/\name\().sql"
        .byte   0
        .endm

        .section .rodata
        query   duckdb
        query   duckdb_paths
        query   summary
        query   top
        query   stacks
        query   paths
        query   names
        query   unnamed
        query   hosts
        query   diff
        query   versions
        query   page
        query   page_stacks
        query   source
        query   source_days
        query   compact
        query   overlaps
        query   schemas
        query   cells

        .section .note.GNU-stack, "", @progbits
