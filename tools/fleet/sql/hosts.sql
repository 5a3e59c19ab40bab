-- SPDX-License-Identifier: MIT
-- The ticks of all hosts of A and B, as far as diff needs them.
SELECT CAST(SUM(a) AS BIGINT) AS a,
       CAST(SUM(b) AS BIGINT) AS b,
       CAST(SUM(CASE WHEN a > 0 THEN 1 ELSE 0 END) AS BIGINT) AS hosts_a,
       CAST(SUM(CASE WHEN b > 0 THEN 1 ELSE 0 END) AS BIGINT) AS hosts_b,
       CAST(SUM(CASE WHEN a > 0 AND b > 0 THEN 1 ELSE 0 END) AS BIGINT) AS hosts_both,
       SUM(a * a) AS aa,
       SUM(b * b) AS bb,
       SUM(a * b) AS ab
FROM (SELECT host,
             CAST(SUM(CASE WHEN side = 'A' THEN count ELSE 0 END) AS DOUBLE) AS a,
             CAST(SUM(CASE WHEN side = 'B' THEN count ELSE 0 END) AS DOUBLE) AS b
      FROM records
      WHERE kind = 'tick'
      GROUP BY host) AS sums
