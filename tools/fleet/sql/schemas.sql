-- SPDX-License-Identifier: MIT
-- Which of the {files}, a list of patterns, have another schema than {needed}, a pattern of LIKE, and which are not where post wrote them:
-- for either their number, the first one, and its schema and place; for DuckDB.
SELECT CAST(is_other AS BIGINT), CAST(COUNT(*) AS BIGINT), MIN(file), MIN_BY(schema, file), MIN_BY(place, file)
FROM (SELECT file,
             COALESCE(schema, '') AS schema,
             COALESCE(place, '') AS place,
             COALESCE(schema, '') NOT LIKE {needed} AS is_other,
             place IS NOT NULL AND NOT ENDS_WITH(file, CONCAT('/records/', place)) AS is_moved
      FROM glob({files}) AS found
      LEFT JOIN (SELECT file_name,
                        MAX(CASE WHEN TRY(decode(key)) = 'pitrace.schema' THEN TRY(decode(value)) END) AS schema,
                        MAX(CASE WHEN TRY(decode(key)) = 'pitrace.place' THEN TRY(decode(value)) END) AS place
                 FROM parquet_kv_metadata({files})
                 GROUP BY 1) AS facts ON file_name = file)
WHERE is_other OR is_moved
GROUP BY is_other
ORDER BY is_other DESC
