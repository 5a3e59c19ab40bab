-- SPDX-License-Identifier: MIT
-- Ticks by process and call path, the outermost function first.
SELECT COALESCE(records.process, '') AS process,
       paths.path AS path,
       CAST(SUM(records.count) AS BIGINT) AS ticks
FROM records
JOIN paths ON records.trace = paths.trace AND records.stack = paths.stack
WHERE records.kind = 'tick'
GROUP BY 1, 2
ORDER BY 1, 2
