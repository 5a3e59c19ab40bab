-- SPDX-License-Identifier: MIT
-- Writes the sums by day of one host's folder of a day, {files}, into {to}, for DuckDB. Ticks that count something else, or another time,
-- are not added up. {of}: which files these are. {overlaps}: whether two are of the same time. Sorted so that equal names are neighbours.
COPY (SELECT to_timestamp(epoch_us(time) // 86400000000 * 86400) AS time,
             host,
             kernel,
             kind,
             process,
             service,
             module,
             build_id,
             function,
             address,
             mode,
             CAST(SUM(count) AS BIGINT) AS count,
             CAST(SUM(COALESCE(amount, count * period)) AS BIGINT) AS amount,
             unit,
             MIN(time) AS first,
             MAX(time) AS last
      FROM read_parquet({files}, hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR})
      WHERE kind IN ('tick', 'lost')
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, unit, period
      ORDER BY function, module, process, service, time)
TO {to} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 9, KV_METADATA {'pitrace.schema': 'days 1.0', 'pitrace.of': {of}, 'pitrace.overlaps': '{overlaps}'})
