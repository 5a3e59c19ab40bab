-- SPDX-License-Identifier: MIT
-- The names that pitrace-fleet resolve has found up to now.
SELECT build_id, address, function
FROM names
ORDER BY 1, 2
