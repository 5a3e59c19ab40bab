-- SPDX-License-Identifier: MIT
-- Which versions ran in A and B: of each {name}, {version}, with ticks and hosts.
SELECT COALESCE({name}, '') AS name,
       COALESCE({version}, '') AS version,
       CAST(SUM(CASE WHEN side = 'A' THEN count ELSE 0 END) AS BIGINT) AS a,
       CAST(SUM(CASE WHEN side = 'B' THEN count ELSE 0 END) AS BIGINT) AS b,
       CAST(COUNT(DISTINCT CASE WHEN side = 'A' THEN host END) AS BIGINT) AS hosts_a,
       CAST(COUNT(DISTINCT CASE WHEN side = 'B' THEN host END) AS BIGINT) AS hosts_b
FROM records
WHERE kind = 'tick'
GROUP BY 1, 2
ORDER BY 1, 2
