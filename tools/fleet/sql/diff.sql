-- SPDX-License-Identifier: MIT
-- Ticks by {name} and {module} in A and B, and sums over hosts from which the variance of a share follows:
-- in_a and in_b are a host's ticks of the row, all_in_a and all_in_b all its ticks. Columns of the inner queries have names of their
-- own, as ClickHouse takes the alias of an expression for a column in it.
SELECT name,
       in_module AS module,
       CAST(SUM(in_a) AS BIGINT) AS a,
       CAST(SUM(in_b) AS BIGINT) AS b,
       SUM(in_a * in_a) AS aa,
       SUM(in_b * in_b) AS bb,
       SUM(in_a * in_b) AS ab,
       SUM(in_a * all_in_a) AS a_of_a,
       SUM(in_a * all_in_b) AS a_of_b,
       SUM(in_b * all_in_a) AS b_of_a,
       SUM(in_b * all_in_b) AS b_of_b
FROM (SELECT COALESCE({name}, '') AS name,
             COALESCE({module}, '') AS in_module,
             host,
             CAST(SUM(CASE WHEN side = 'A' THEN count ELSE 0 END) AS DOUBLE) AS in_a,
             CAST(SUM(CASE WHEN side = 'B' THEN count ELSE 0 END) AS DOUBLE) AS in_b
      FROM records
      WHERE kind = 'tick'
      GROUP BY 1, 2, 3) AS cells
JOIN (SELECT host,
             CAST(SUM(CASE WHEN side = 'A' THEN count ELSE 0 END) AS DOUBLE) AS all_in_a,
             CAST(SUM(CASE WHEN side = 'B' THEN count ELSE 0 END) AS DOUBLE) AS all_in_b
      FROM records
      WHERE kind = 'tick'
      GROUP BY host) AS sums ON cells.host = sums.host
GROUP BY name, in_module
ORDER BY name, module
