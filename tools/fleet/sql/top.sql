-- SPDX-License-Identifier: MIT
-- Ticks by {name}, which is a column or an expression; {module}: its module, or ''.
SELECT COALESCE({name}, '') AS name,
       COALESCE({module}, '') AS module,
       CAST(SUM(count) AS BIGINT) AS ticks,
       CAST(COUNT(DISTINCT host) AS BIGINT) AS hosts
FROM records
WHERE kind = 'tick'
GROUP BY 1, 2
ORDER BY ticks DESC, name, module
