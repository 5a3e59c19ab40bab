-- SPDX-License-Identifier: MIT
-- The hosts of which two tables of traces are of the same time, for DuckDB. {files}: a list of tables, whose names are when their traces
-- began, in nanoseconds; pitrace.end in their metadata is when they ended, in microseconds. A table with another name can be a copy:
-- its trace counts as begun before all others. Times are known to within a second.
SELECT host
FROM (SELECT host, begun, MAX(ended) OVER (PARTITION BY host ORDER BY begun ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT REGEXP_EXTRACT(file_name, '/host=([^/]*)/[^/]*$', 1) AS host,
                   COALESCE(TRY_CAST(REGEXP_EXTRACT(file_name, '/([0-9]+)[.]parquet$', 1) AS BIGINT) // 1000, 0) AS begun,
                   TRY_CAST(TRY(decode(value)) AS BIGINT) AS ended
            FROM parquet_kv_metadata({files})
            WHERE TRY(decode(key)) = 'pitrace.end') AS traces) AS following
WHERE begun + 2000000 < before
GROUP BY host
ORDER BY host
