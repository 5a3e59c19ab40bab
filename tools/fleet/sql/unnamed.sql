-- SPDX-License-Identifier: MIT
-- Functions that had no name on their hosts and have none yet, with a path of their files.
SELECT build_id, address, MIN(module) AS module
FROM (SELECT build_id, address, module FROM all_frames
      UNION ALL
      SELECT build_id, address, module FROM all_records) AS functions
WHERE build_id IS NOT NULL
  AND address IS NOT NULL
  AND (build_id, address) NOT IN (SELECT build_id, address FROM names)
GROUP BY 1, 2
ORDER BY 1, 2
