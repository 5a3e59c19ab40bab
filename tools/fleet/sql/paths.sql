-- SPDX-License-Identifier: MIT
-- Ticks by process and stack.
SELECT trace,
       CAST(stack AS BIGINT) AS stack,
       COALESCE(process, '') AS process,
       CAST(SUM(count) AS BIGINT) AS ticks
FROM path_records
WHERE kind = 'tick'
GROUP BY 1, 2, 3
ORDER BY trace
