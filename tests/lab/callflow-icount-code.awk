# SPDX-License-Identifier: MIT
# Reads an arc with instructions (post -arc -ss) of Kept and prints the most frequent code of each leaf's calls, as
# callflow-icount-code-guest.sh says. -v probed=1: of the program with probes, each of which reads the time-stamp counter first and last.
# What is between brackets belongs to the thread t.

function forget() { known[t] = parts[t] = calls[t] = 0; called[t] = "" }

# found(PART, METHOD, CODE, NUMBER): a call of the leaf has this code in this part. NUMBER belongs to it.
function found(what, name, code, number,   key) {
    key = what " " name
    if (++seen[key, code, number] <= best[key]) return
    best[key] = seen[key, code, number]
    code_of[key] = code
    number_of[key] = number
}

# Without probes: the blocks from a call to the return.
function plain_block(name,   i) {
    if (calls[t]) { called[t] = name; code[t] = "" }
    else if (name != called[t]) called[t] = ""
    calls[t] = $3 == 1
    if (called[t] == "") return
    for (i = 1; i <= n; i++) code[t] = code[t] line[i] "\n"
    if ($3 == 2) { found("own", called[t], code[t], 0); called[t] = "" }
}

# With probes: from one read to the next, the parts of methods of Kept in their order.
function probed_block(name,   i) {
    for (i = 1; i <= n; i++) {
        if (line[i] == "rdtsc") {
            if (known[t]) end_interval()
            known[t] = all[t] = 1
            parts[t] = 0
            continue
        }
        all[t]++
        if (name == "") continue
        if (parts[t] == 0 || method[t, parts[t]] != name) { method[t, ++parts[t]] = name; text[t, parts[t]] = "" }
        text[t, parts[t]] = text[t, parts[t]] line[i] "\n"
    }
}

# A call of a leaf, or what its caller executes before or after it.
function end_interval() {
    if (parts[t] == 1) found("between", method[t, 1], text[t, 1], all[t])
    if (parts[t] < 2) return
    found("after", method[t, 1], text[t, 1], 0)
    found("before", method[t, parts[t]], text[t, parts[t]], 0)
}

/^ ss: the / { broken = 1; next }
/^ ss: / { line[++n] = $0; sub(/^ ss: [^ ]+ [^ ]+ /, "", line[n]); next }
/^#/ || $5 != "@" { next }
{
    t = $8
    if ($2 != "U" || $9 ~ /^-/ || broken || n != $4) forget()
    else {
        name = ""
        if ($7 ~ /^Kept\./) { name = substr($7, 6); sub(/\(.*/, "", name) }
        if (probed) probed_block(name)
        else plain_block(name)
    }
    n = broken = 0
}

END {
    for (key in best) {
        split(key, words, " ")
        if (words[2] == "main" || words[2] == "round") continue
        lines = split(code_of[key], instruction, "\n") - 1
        if (words[1] == "own") print "own", words[2], lines
        if (words[1] == "between") print "interval", words[2], number_of[key]
        for (i = 1; i <= lines; i++) print "code", key, i, instruction[i]
    }
}
