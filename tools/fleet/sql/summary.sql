-- SPDX-License-Identifier: MIT
-- How much was recorded. kinds: ticks that count different things, or at different rates, cannot be added up. In two steps, since that is
-- faster than COUNT(DISTINCT ...) of all rows.
SELECT CAST(COUNT(DISTINCT CASE WHEN kind = 'tick' THEN host END) AS BIGINT) AS hosts,
       CAST(COUNT(DISTINCT CASE WHEN kind = 'tick' THEN kernel END) AS BIGINT) AS kernels,
       CAST(COALESCE(SUM(CASE WHEN kind = 'tick' THEN sums ELSE 0 END), 0) AS BIGINT) AS ticks,
       CAST(COALESCE(SUM(CASE WHEN kind = 'lost' THEN sums ELSE 0 END), 0) AS BIGINT) AS lost,
       CAST(COUNT(DISTINCT CASE WHEN kind = 'tick' THEN CONCAT(COALESCE(unit, ''), ' ', CAST(per_tick AS VARCHAR)) END) AS BIGINT) AS kinds,
       CAST(COALESCE(SUM(CASE WHEN kind = 'tick' THEN idle ELSE 0 END), 0) AS BIGINT) AS idle,
       CAST(COALESCE(MIN(least), 0) AS BIGINT) AS least,
       CAST(COALESCE(MIN(CASE WHEN kind = 'tick' THEN first END), 0) AS BIGINT) AS first_micros,
       CAST(COALESCE(MAX(CASE WHEN kind = 'tick' THEN last END), 0) AS BIGINT) AS last_micros
FROM (SELECT kind,
             host,
             kernel,
             unit,
             CASE WHEN kind = 'tick' THEN CAST(COALESCE(amount, 0) / NULLIF(count, 0) AS BIGINT) END AS per_tick,
             SUM(count) AS sums,
             SUM(CASE WHEN process = 'SystemProcess' THEN count ELSE 0 END) AS idle,
             MIN(count) AS least,
             MIN(first_micros) AS first,
             MAX(last_micros) AS last
      FROM records
      GROUP BY 1, 2, 3, 4, 5) AS parts
