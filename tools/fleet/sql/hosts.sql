-- SPDX-License-Identifier: MIT
-- The ticks of all hosts of A and B, as far as diff needs them.
SELECT CAST(SUM(in_a) AS BIGINT) AS a,
       CAST(SUM(in_b) AS BIGINT) AS b,
       CAST(SUM(CASE WHEN in_a > 0 THEN 1 ELSE 0 END) AS BIGINT) AS hosts_a,
       CAST(SUM(CASE WHEN in_b > 0 THEN 1 ELSE 0 END) AS BIGINT) AS hosts_b,
       CAST(SUM(CASE WHEN in_a > 0 AND in_b > 0 THEN 1 ELSE 0 END) AS BIGINT) AS hosts_both,
       SUM(in_a * in_a) AS aa,
       SUM(in_b * in_b) AS bb,
       SUM(in_a * in_b) AS ab
FROM (SELECT host,
             CAST(SUM(CASE WHEN side = 'A' THEN count ELSE 0 END) AS DOUBLE) AS in_a,
             CAST(SUM(CASE WHEN side = 'B' THEN count ELSE 0 END) AS DOUBLE) AS in_b
      FROM records
      WHERE kind = 'tick'
      GROUP BY host) AS sums
