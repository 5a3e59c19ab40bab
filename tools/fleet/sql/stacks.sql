-- SPDX-License-Identifier: MIT
-- The stacks of the selected traces, each after its caller: the name of its innermost function, as folded stacks have it.
SELECT trace,
       CAST(stack AS BIGINT) AS stack,
       CAST(parent AS BIGINT) AS parent,
       REPLACE(CASE WHEN function IS NOT NULL THEN function
                    WHEN module IS NULL THEN '[unknown]'
                    ELSE CONCAT('[', REGEXP_REPLACE(module, '.*/', ''), ']') END, ';', '\x3b') AS name,
       CASE WHEN mode = 'kernel' THEN '_[k]' WHEN guessed = 1 THEN '_[g]' ELSE '' END AS suffix
FROM all_stacks
WHERE trace IN (SELECT trace FROM path_records)
ORDER BY trace, stack
