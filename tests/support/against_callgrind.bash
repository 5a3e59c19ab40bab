# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Instructions of each function of a test program, counted by callgrind and by arcf.

# count_by_callgrind FILE PROGRAM ARG...: writes sorted lines "COUNT FUNCTION" of the program's own functions to FILE.
count_by_callgrind() {
    local file=$1 program=$2
    shift
    valgrind --quiet --tool=callgrind --skip-plt=no --callgrind-out-file="$file.out" "$@" >/dev/null || return
    # callgrind lists a recursive function several times, with a number after a quote.
    callgrind_annotate --threshold=100 "$file.out" | awk -v object="[$program]" '
        $NF == object && !/=>/ {
            number = $1; gsub(",", "", number)
            sub(/^.*:/, "", $(NF - 1)); sub(/\x27[0-9]+$/, "", $(NF - 1))
            sum[$(NF - 1)] += number
        }
        END { for (name in sum) print sum[name], name }' | sort >"$file"
    [ -s "$file" ]
}

# own_functions PROGRAM FILE: prints the same lines from the output of arcf -r 2.
own_functions() {
    awk -v object="$1" '
        { at = index($NF, ":") }
        at && substr($NF, at + 1) == object { sum[substr($NF, 1, at - 1)] += $2 }
        END { for (name in sum) print sum[name], name }' "$2" | sort
}

# functions_of_source prints the functions that algorithms.c defines; only_of_source keeps their "COUNT FUNCTION" lines,
# without those that the C library adds to each program.
functions_of_source() {
    sed -nE 's/^(static )?[a-z0-9_]+ \*?([a-z_]+)\(.*[^;]$/\2/p' "${SOURCE_DIR:?}/tests/progs/algorithms.c"
}
only_of_source() {
    awk 'NR == FNR { own[$1]; next } $2 in own' <(functions_of_source) -
}
