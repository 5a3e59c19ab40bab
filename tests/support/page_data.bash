# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The data of an HTML page, in tests of the command line.

# page_data FILE: prints the data of a page.
page_data() {
  node -e 'const page = require("fs").readFileSync(process.argv[1], "utf8");
    const data = /^<pre id="data" hidden>([A-Za-z0-9+\/=]*)<\/pre>$/m.exec(page)[1];
    process.stdout.write(require("zlib").inflateSync(Buffer.from(data, "base64")));' "$1"
}

# page_rows FILE TABLE: rows of a table in the data: level, name and the numbers of each column.
page_rows() {
  jq -r --argjson table "$2" '.names as $names | .tables[$table] | [.level, (.name | map($names[.])), .cells[]] | transpose[] | map(tostring) | join(" ")' "$1"
}

# page_of DATA: the data of a page of a trace of user code, made without perf events, with the tables of a file; in data.json.
page_of() {
  local first last
  read -r first last < <(nm "$BUILD_DIR/tests/flows" | awk '$3 == "begin" { first = $1 } $3 == "end" { last = $1 } END { print first, last }')
  [[ -e flows.nrm2 ]] || "$BUILD_DIR/tests/step_trace" flows.nrm2 "$first" "$last" -- "$BUILD_DIR/tests/flows"
  post -r flows.nrm2 --html --with-data "$1"
  page_data tprof.html >data.json
}
