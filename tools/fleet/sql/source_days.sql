-- SPDX-License-Identifier: MIT
-- The rows of the sums by day that pitrace-fleet compact has written, for DuckDB. {files}: a list of them. {dates} and {columns} as in source.sql.
SELECT {columns}, epoch_us(first) AS first_micros, epoch_us(last) AS last_micros
FROM read_parquet({files}, hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR})
WHERE {dates}
