// SPDX-License-Identifier: MIT
// Prints the sum of the first value of all samples in a file of pprof: node pprof_sum.mjs FILE.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

const bytes = gunzipSync(readFileSync(process.argv[2]), { maxOutputLength: 2 ** 32 })

function varint(at) {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    value += (bytes[at] & 127) * factor
    if (bytes[at++] < 128) return [value, at]
  }
}

// Calls take(number, begin, end) for each field that has a length; other fields are numbers.
function fields(at, end, take) {
  while (at < end) {
    let key, value
    ;[key, at] = varint(at)
    ;[value, at] = varint(at)
    if (key % 8 !== 2) continue
    take(key >> 3, at, at + value)
    at += value
  }
}

let sum = 0
fields(0, bytes.length, (number, begin, end) => {
  if (number !== 2) return
  fields(begin, end, (field, at) => {
    if (field === 2) sum += varint(at)[0]
  })
})
console.log(sum)
