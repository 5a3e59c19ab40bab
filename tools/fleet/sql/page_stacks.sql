-- SPDX-License-Identifier: MIT
-- The stacks of the selected traces, each after its caller, with their innermost functions.
SELECT trace,
       CAST(stack AS BIGINT) AS stack,
       CAST(parent AS BIGINT) AS parent,
       COALESCE(function, '') AS function,
       COALESCE(module, '') AS module,
       CAST(CASE WHEN mode = 'kernel' THEN 1 ELSE 0 END AS BIGINT) AS kernel,
       CAST(guessed AS BIGINT) AS guessed
FROM all_stacks
WHERE trace IN (SELECT trace FROM path_records)
ORDER BY trace, stack
