-- SPDX-License-Identifier: MIT
-- Ticks by {name}, which is a column or an expression; {module}: its module, or ''. In two steps, since that is faster than
-- COUNT(DISTINCT host).
SELECT name,
       in_module AS module,
       CAST(SUM(ticks) AS BIGINT) AS ticks,
       CAST(COUNT(*) AS BIGINT) AS hosts
FROM (SELECT COALESCE({name}, '') AS name,
             COALESCE({module}, '') AS in_module,
             host,
             SUM(count) AS ticks
      FROM records
      WHERE kind = 'tick'
      GROUP BY 1, 2, 3) AS by_host
GROUP BY 1, 2
ORDER BY ticks DESC, name, module
