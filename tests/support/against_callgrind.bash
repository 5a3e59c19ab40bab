# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Instructions of each function of a program of ours, by callgrind and by arcf.

# count_by_callgrind FILE PROGRAM ARG...: "COUNT FUNCTION", sorted, of the program's own functions.
count_by_callgrind() {
    local file=$1 program=$2
    shift
    valgrind --quiet --tool=callgrind --skip-plt=no --callgrind-out-file="$file.out" "$@" >/dev/null || return
    # A function that calls itself is several there, with numbers behind a quote.
    callgrind_annotate --threshold=100 "$file.out" | awk -v object="[$program]" '
        $NF == object && !/=>/ {
            number = $1; gsub(",", "", number)
            sub(/^.*:/, "", $(NF - 1)); sub(/\x27[0-9]+$/, "", $(NF - 1))
            sum[$(NF - 1)] += number
        }
        END { for (name in sum) print sum[name], name }' | sort >"$file"
    [ -s "$file" ]
}

# own_functions PROGRAM FILE: the same from what arcf -r 2 printed.
own_functions() {
    awk -v object="$1" '
        { at = index($NF, ":") }
        at && substr($NF, at + 1) == object { sum[substr($NF, 1, at - 1)] += $2 }
        END { for (name in sum) print sum[name], name }' "$2" | sort
}

# The functions that algorithms.c defines, and of "COUNT FUNCTION" those: not what the C library adds to each program.
functions_of_source() {
    sed -nE 's/^(static )?[a-z0-9_]+ \*?([a-z_]+)\(.*[^;]$/\2/p' "${SOURCE_DIR:?}/tests/progs/algorithms.c"
}
only_of_source() {
    awk 'NR == FNR { own[$1]; next } $2 in own' <(functions_of_source) -
}
