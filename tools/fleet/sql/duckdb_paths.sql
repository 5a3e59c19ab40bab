-- SPDX-License-Identifier: MIT
-- What questions about call paths read, for DuckDB: the functions of stacks, the stacks, and the sums by stack, with the innermost
-- function of each. {folder}, {dates}, {named}, {join} and shown() are those of duckdb.sql.
CREATE VIEW all_frames AS
    SELECT source.* REPLACE ({named} AS function)
    FROM (SELECT *
          FROM read_parquet('{folder}/frames/*/*/*.parquet',
                            hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR})
          WHERE {dates}) AS source
    {join};
CREATE VIEW all_stacks AS
    SELECT stacks.trace, stack, CASE WHEN up = 0 THEN NULL ELSE stack - up END AS parent,
           module, build_id, function, address, mode, guessed
    FROM (SELECT *
          FROM read_parquet('{folder}/stacks/*/*/*.parquet',
                            hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR})
          WHERE {dates}) AS stacks
    JOIN all_frames ON all_frames.trace = stacks.trace AND all_frames.frame = stacks.frame;
CREATE VIEW all_paths AS
    SELECT paths.* REPLACE (COALESCE(amount, count * period) AS amount), epoch_us(time) AS micros, stacks.module, stacks.build_id, stacks.function, stacks.mode
    FROM (SELECT *
          FROM read_parquet('{folder}/paths/*/*/*.parquet',
                            hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR})
          WHERE {dates}) AS paths
    JOIN all_stacks AS stacks ON stacks.trace = paths.trace AND stacks.stack = paths.stack;
