-- SPDX-License-Identifier: MIT
-- The rows of post's tables of sums by function, for DuckDB. {files}: a pattern, or a list of patterns. {dates}: a condition on date that
-- leaves out folders of other days. {columns}: *, or those that the sums by day have, too.
SELECT {columns}, epoch_us(time) AS first_micros, epoch_us(time) AS last_micros
FROM (SELECT * REPLACE (COALESCE(amount, count * period) AS amount)
      FROM read_parquet({files}, hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR}))
WHERE {dates}
