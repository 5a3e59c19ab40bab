-- SPDX-License-Identifier: MIT
-- What most questions read, for DuckDB: the sums by function of post --fleet, with the names that pitrace-fleet resolve has found.
-- The rows are those of source.sql and source_days.sql. {names}: the table of these names; {named} and {join}: how a function gets
-- one of them, if there are any.
-- raw is the function without them.
-- An empty function has no symbol: it is shown as post does, by its file and its address there. [vdso] has its brackets already.
CREATE MACRO shown(function, module, address) AS
    CASE WHEN function = ''
        THEN CONCAT('[', REGEXP_REPLACE(REGEXP_REPLACE(COALESCE(module, ''), '.*/', ''), '^\[vdso\]$', 'vdso'), '+0x', LOWER(to_hex(address)), ']')
        ELSE function END;
CREATE VIEW names AS
    SELECT build_id, address, MIN(function) AS function
    FROM {names}
    GROUP BY build_id, address;
CREATE VIEW all_records AS
    SELECT source.* REPLACE ({named} AS function), source.function AS raw
    FROM ({source}) AS source
    {join};
