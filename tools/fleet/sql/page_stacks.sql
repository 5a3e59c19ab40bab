-- SPDX-License-Identifier: MIT
-- The frames of the stacks of the selected traces, the outermost first.
SELECT trace,
       CAST(stack AS BIGINT) AS stack,
       COALESCE(function, '') AS function,
       COALESCE(module, '') AS module,
       CAST(CASE WHEN mode = 'kernel' THEN 1 ELSE 0 END AS BIGINT) AS kernel,
       CAST(guessed AS BIGINT) AS guessed
FROM all_stacks
WHERE trace IN (SELECT trace FROM records)
ORDER BY trace, stack, depth DESC
