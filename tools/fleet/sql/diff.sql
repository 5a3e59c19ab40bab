-- SPDX-License-Identifier: MIT
-- Ticks by {name} and {module} in A and B, and sums over hosts from which the variance of a share follows:
-- a and b are a host's ticks of the row, of_a and of_b all its ticks.
SELECT name,
       module,
       CAST(SUM(a) AS BIGINT) AS a,
       CAST(SUM(b) AS BIGINT) AS b,
       SUM(a * a) AS aa,
       SUM(b * b) AS bb,
       SUM(a * b) AS ab,
       SUM(a * of_a) AS a_of_a,
       SUM(a * of_b) AS a_of_b,
       SUM(b * of_a) AS b_of_a,
       SUM(b * of_b) AS b_of_b
FROM (SELECT COALESCE({name}, '') AS name,
             COALESCE({module}, '') AS module,
             host,
             CAST(SUM(CASE WHEN side = 'A' THEN count ELSE 0 END) AS DOUBLE) AS a,
             CAST(SUM(CASE WHEN side = 'B' THEN count ELSE 0 END) AS DOUBLE) AS b
      FROM records
      WHERE kind = 'tick'
      GROUP BY 1, 2, 3) AS cells
JOIN (SELECT host,
             CAST(SUM(CASE WHEN side = 'A' THEN count ELSE 0 END) AS DOUBLE) AS of_a,
             CAST(SUM(CASE WHEN side = 'B' THEN count ELSE 0 END) AS DOUBLE) AS of_b
      FROM records
      WHERE kind = 'tick'
      GROUP BY host) AS sums ON cells.host = sums.host
GROUP BY name, module
ORDER BY name, module
