-- SPDX-License-Identifier: MIT
-- Sums by {whole} and each of the {sets}, lists of {columns}, of the selected ticks, so that these are read once for several tables; for
-- DuckDB. The bits of level are those of the columns that a row has not. raw is the function as it is in the tables: to sum up by it is
-- faster than by the names, which {named} and {join} make of the sums, as in duckdb.sql.
CREATE OR REPLACE TEMP TABLE cells AS
    SELECT source.* {function}
    FROM (SELECT {whole}, 'tick' AS kind, {columns}, CAST(SUM(count) AS BIGINT) AS count, GROUPING({columns}) AS level
          FROM records
          WHERE kind = 'tick'
          GROUP BY GROUPING SETS ({sets})) AS source
    {join}
