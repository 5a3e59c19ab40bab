// SPDX-License-Identifier: MIT
// Runs SQL on DuckDB: query.mjs SQL... prints the rows, with blanks between values.
import { DuckDBInstance } from '@duckdb/node-api';

const database = await (await DuckDBInstance.create(':memory:')).connect();
for (const sql of process.argv.slice(2)) {
  const result = await database.runAndReadAll(sql);
  for (const row of result.getRows()) console.log(row.map(String).join(' '));
}
