-- SPDX-License-Identifier: MIT
-- How much was recorded. kinds: ticks that count different things, or at different rates, cannot be added up.
SELECT CAST(COUNT(DISTINCT CASE WHEN kind = 'tick' THEN host END) AS BIGINT) AS hosts,
       CAST(COUNT(DISTINCT CASE WHEN kind = 'tick' THEN kernel END) AS BIGINT) AS kernels,
       CAST(COUNT(DISTINCT CASE WHEN kind = 'tick' THEN trace END) AS BIGINT) AS traces,
       CAST(COALESCE(SUM(CASE WHEN kind = 'tick' THEN count ELSE 0 END), 0) AS BIGINT) AS ticks,
       CAST(COALESCE(SUM(CASE WHEN kind = 'lost' THEN count ELSE 0 END), 0) AS BIGINT) AS lost,
       CAST(COUNT(DISTINCT CASE WHEN kind = 'tick' THEN CONCAT(COALESCE(unit, ''), ' ', CAST(COALESCE(amount, 0) / count AS BIGINT)) END) AS BIGINT)
           AS kinds,
       CAST(COALESCE(MIN(CASE WHEN kind = 'tick' THEN micros END), 0) AS BIGINT) AS first_micros,
       CAST(COALESCE(MAX(CASE WHEN kind = 'tick' THEN micros END), 0) AS BIGINT) AS last_micros
FROM records
