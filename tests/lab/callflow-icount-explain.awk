# SPDX-License-Identifier: MIT
# Reads what callflow-icount-code-guest.sh prints and explains what calibration leaves of the cost of probes in each leaf: a leaf that does
# nothing is subtracted from the others, with and without probes, and the rest is aligned. Prints
#   work WAY METHOD INSTRUCTION    of the leaf but not of the one that does nothing; WAY: "own" without probes; with probes "before" those
#                                  of the entry (charged to the caller), "between", or "after" those of the exit (charged to the caller)
#   more METHOD INSTRUCTION, less METHOD INSTRUCTION  between the probes, but not without them, and the reverse
#   explained METHOD INSTRUCTIONS  their difference: more, less those of less
#   base, own, interval, sequence  as they are

# shape(INSTRUCTION): without the names of registers and the numbers: d and q are registers of 32 and 64 bits, s is a place in the
# stack's frame, m another one, i a number.
function shape(text,   words, n, i, result, operands) {
    result = text
    sub(/ .*/, "", result)
    operands = substr(text, length(result) + 2)
    n = split(operands, words, /, */)
    for (i = 1; i <= n; i++)
        result = result " " (words[i] ~ /\[rsp/ ? "s" : words[i] ~ /\[/ ? "m" : words[i] ~ /^-?[0-9]/ ? "i" : words[i] ~ /^e|d$/ ? "d" : "q")
    return result
}

# align(A, B): fills only_a and only_b with the instructions, in lines, that the other has not: the fewest.
function align(a, b,   x, y, n, m, i, k, longest, sx, sy) {
    n = split(a, x, "\n") - 1
    m = split(b, y, "\n") - 1
    for (i = 1; i <= n; i++) sx[i] = shape(x[i])
    for (k = 1; k <= m; k++) sy[k] = shape(y[k])
    for (i = n; i >= 1; i--)
        for (k = m; k >= 1; k--) {
            longest[i, k] = longest[i + 1, k] >= longest[i, k + 1] ? longest[i + 1, k] + 0 : longest[i, k + 1] + 0
            if (sx[i] == sy[k] && longest[i + 1, k + 1] + 1 > longest[i, k]) longest[i, k] = longest[i + 1, k + 1] + 1
        }
    only_a = only_b = ""
    i = k = 1
    while (i <= n || k <= m) {
        if (i <= n && k <= m && sx[i] == sy[k] && longest[i, k] == longest[i + 1, k + 1] + 1) { i++; k++ }
        else if (k > m || i <= n && longest[i + 1, k] >= longest[i, k + 1]) only_a = only_a x[i++] "\n"
        else only_b = only_b y[k++] "\n"
    }
}

function put(prefix, lines,   n, i, line) {
    n = lines == "" ? 0 : split(lines, line, "\n") - 1
    for (i = 1; i <= n; i++) print prefix " " line[i]
    return n
}

$1 == "code" { code[$2, $3] = code[$2, $3] substr($0, length($1 $2 $3 $4) + 5) "\n"; next }
$1 == "own" { leaves[$2] }
{ print }

END {
    for (leaf in leaves) {
        empty = leaf ~ /Either$/ ? "nothingEither" : "nothing"
        for (part = 1; part <= split("before after own between", parts, " "); part++) {
            align(code[parts[part], empty], code[parts[part], leaf])
            put("work " parts[part] " " leaf, only_b)
            if (parts[part] == "own") { own = only_b; lost = only_a }
        }
        # What the empty leaf has alone counts as the leaf's own in the other way.
        align(own only_a, only_b lost)
        more = put("more " leaf, only_b)
        print "explained", leaf, more - put("less " leaf, only_a)
    }
}
