-- SPDX-License-Identifier: MIT
-- Ticks by stack, process, host and time, and the nanoseconds that they represent.
SELECT side,
       trace,
       CAST(stack AS BIGINT) AS stack,
       COALESCE(process, '') AS process,
       COALESCE(host, '') AS host,
       micros,
       CAST(SUM(count) AS BIGINT) AS ticks,
       CAST(SUM(CASE WHEN unit = 'ns' THEN amount ELSE 0 END) AS BIGINT) AS ns
FROM path_records
WHERE kind = 'tick'
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 1, 2, 3, 4, 5, 6
