-- SPDX-License-Identifier: MIT
-- One of the {files}, a list of patterns, whose schema is not {needed}, a pattern of LIKE, with that schema; for DuckDB.
SELECT file, COALESCE(schema, '')
FROM glob({files}) AS found
LEFT JOIN (SELECT file_name, MAX(decode(value)) AS schema
           FROM parquet_kv_metadata({files})
           WHERE decode(key) = 'pitrace.schema'
           GROUP BY 1) AS schemas ON file_name = file
WHERE COALESCE(schema, '') NOT LIKE {needed}
ORDER BY file
LIMIT 1
