// SPDX-License-Identifier: MIT
// Reads a Parquet file with hyparquet: rows.mjs FILE prints each row as JSON.
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

const file = await asyncBufferFromFile(process.argv[2]);
const plain = (_, value) => (typeof value === 'bigint' ? Number(value) : value);
for (const row of await parquetReadObjects({ file, compressors })) console.log(JSON.stringify(row, plain));
