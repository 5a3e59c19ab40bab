-- SPDX-License-Identifier: MIT
-- What the questions read, for DuckDB: the tables of post --fleet, and the call path of each stack.
-- {folder}: the fleet's folder. {dates}: a condition on date that leaves out folders of other days.
CREATE VIEW all_records AS
    SELECT *, epoch_us(time) AS micros
    FROM read_parquet('{folder}/records/*/*/*.parquet',
                      hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR})
    WHERE {dates};
CREATE VIEW all_stacks AS
    SELECT *
    FROM read_parquet('{folder}/stacks/*/*/*.parquet',
                      hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR})
    WHERE {dates};
CREATE VIEW paths AS
    SELECT trace, stack, string_agg(name, ';' ORDER BY depth DESC) AS path
    FROM (SELECT trace, stack, depth,
                 replace(CASE WHEN function IS NOT NULL THEN function
                              WHEN module IS NULL THEN '[unknown]'
                              ELSE '[' || regexp_replace(module, '.*/', '') || ']' END, ';', '\x3b')
                     || CASE WHEN mode = 'kernel' THEN '_[k]' WHEN guessed = 1 THEN '_[g]' ELSE '' END AS name
          FROM all_stacks)
    GROUP BY trace, stack;
