#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The completions, loaded by bash, zsh and fish: real lines, and the options of each program compared with its help.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH=$BUILD_DIR/bin:$PATH COMPLETIONS=$BUILD_DIR/completions
    export HOME=$BATS_FILE_TMPDIR/home XDG_CONFIG_HOME=$BATS_FILE_TMPDIR/home
    mkdir -p "$HOME" "$BATS_FILE_TMPDIR/work/folder"
    : >"$BATS_FILE_TMPDIR/work/file.nrm2"
}

setup() { cd "$BATS_FILE_TMPDIR/work" || return; }

# The lines that every shell completes, and all candidates for the last word; "+": these and others.
lines() {
    cat <<'END'
swtrace in|info init
swtrace |+ init free on off get it_run check
swtrace stacks |user kernel both off
swtrace init --source |auto driver perf
swtrace init -source pe|perf
swtrace init -t |norm wrap cont
swtrace enable dis|dispatch
swtrace event page|page-faults
post --fol|--folded
post -fol|-folded
post --no-sy|--no-symbol
post -r fi|file.nrm2
post fi|file.nrm2
post to|top
post top --interv|--interval
post --clip |
ptt dump --al|--allnames
ptt ini|init
mpevt re|read reset
cpi --priv |user kernel both
run.tprof --mod|--module
run.tprof -m |time event
run.tprof -c |
run.tprof -- mkfif|mkfifo
tinstall --gr|--group
pitrace prof|profile
pitrace help pttst|pttstats
pitrace top --interv|--interval
pitrace profile --mod|--module
pitrace cpu --sp|--sp
END
}

# Each reads lines and prints "LINE NUMBER, candidate" for each candidate.
in_bash() {
    # shellcheck disable=SC2016 # the inner shell expands it
    timeout 120 bash --norc --noprofile -c '
        source "$COMPLETIONS/bash/pitrace" || exit
        while IFS= read -r line; do
            # As readline splits it: at blanks and at "=".
            read -ra COMP_WORDS <<<"${line//=/ = }"
            [[ $line != *" " ]] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} number=$((number + 1))
            _pitrace
            if ((${#COMPREPLY[@]})); then printf "$number,%s\n" "${COMPREPLY[@]}"; fi
        done'
}

# For -WORD fish 4 also has the options --WORD.
in_fish() {
    # shellcheck disable=SC2016 # fish expands it
    timeout 120 fish --no-config -c '
        set fish_complete_path $COMPLETIONS/fish $fish_complete_path
        while read -l line
            set number (math 0$number + 1)
            set found (complete -C $line | string replace -r "\t.*" "")
            if string match -qr -- " -[^-]*\$" $line
                set found (string match -vr -- "^--" $found)
            end
            string replace -r "^" "$number," -- $found
        end'
}

# One zsh on a terminal. A line is followed by a tabulator, and by Ctrl-T, which takes the next one. The shell's compadd writes
# what it adds.
in_zsh() {
    local line
    cat >setup.zsh <<'END'
PS1= LISTMAX=10000 number=1
unset zle_bracketed_paste
fpath=($COMPLETIONS/zsh $fpath)
autoload -U compinit
compinit -D -u
compadd() {
  if [[ " ${(j: :)@[1,(i)(-|--)]}" != *' -'[OAD]* ]]; then
    local -a hits
    builtin compadd -O hits "$@"
    print -rl -- $number,${^hits} >>answers.zsh
  fi
  builtin compadd "$@"
}
next() { BUFFER=; (( number++ )) }
zle -N next
bindkey '^T' next
END
    : >answers.zsh
    {
        printf 'source ./setup.zsh\n'
        while IFS= read -r line; do printf '%s\t\x14' "$line"; done
        printf 'exit\n'
    } | timeout 120 script -qec 'stty rows 1000 columns 200; zsh -f -i' /dev/null >screen.zsh
    cat answers.zsh
}

# check_lines SHELL: completes the lines (of standard input, with their candidates) in the shell.
check_lines() {
    local line number=0 bad=0 candidate expected word
    declare -A found=()
    cat >lines
    while IFS=, read -r number candidate; do
        [[ -z $candidate ]] || found[$number]+=$candidate$'\n'
    done < <(sed 's/|.*//' lines | "in_$1" | sort -u)
    number=0
    while IFS='|' read -r line expected; do
        number=$((number + 1))
        # fish 4 also offers options that have the typed letters in their middle.
        candidate=$(awk -v typed="${line##* }" 'typed !~ /^--/ || !/^--/ || index($0, typed) == 1' <<<"${found[$number]:-}")
        candidate=" ${candidate//$'\n'/ } "
        candidate=${candidate/#  / }
        for word in ${expected#+}; do
            [[ $candidate == *" $word "* ]] || bad=1
            candidate=${candidate/ $word / }
        done
        [[ $expected == +* || $candidate == ' ' ]] || bad=1
        ((!bad)) || { echo "$1: \"$line\": ${found[$number]:-} instead of: $expected" && return 1; }
    done <lines
    [ "$number" -gt 0 ]
}

@test "bash completes commands, options, values, files and the command after --" {
    lines | check_lines bash
    check_lines bash <<'END'
swtrace init --source=dr|driver
post -o fo|folder
post --pp 1 |
post --diff fi|file.nrm2
post --diff file.nrm2 fi|file.nrm2
END
}

# bash_completes WORDS CANDIDATE...: bash completes the last one of these words (lines of WORDS) with these candidates.
bash_completes() {
    # shellcheck disable=SC2016 # the inner shell expands it
    bash --norc --noprofile -c '
        source "$COMPLETIONS/bash/pitrace" || exit
        mapfile -t COMP_WORDS <<<"$1"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _pitrace
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1" | sort >found
    printf '%s\n' "${@:2}" | sort | diff - found
}

@test "bash completes names with blanks, quotes, patterns and expansions, and executes nothing" {
    # shellcheck disable=SC2016 # a name
    local substitution='x$(touch executed)'
    mkdir -p "$BATS_TEST_TMPDIR/names/two words"
    cd "$BATS_TEST_TMPDIR/names"
    : >'two files.nrm2' && : >'a*' && : >ab && : >"$substitution"
    bash_completes $'post\n-r\ntwo' 'two files.nrm2' 'two words'
    bash_completes $'run.tprof\n-o\ntwo' 'two words'
    bash_completes $'post\n-r\na' 'a*' ab
    bash_completes $'post\n-r\nx' "$substitution"
    # Words that are quoted: readline gives them as they were typed.
    bash_completes $'post\n-r\ntwo\\ f' 'two files.nrm2'
    bash_completes $'post\n-r\n"two f' 'two files.nrm2'
    bash_completes $'post\n-r\n\'two f' 'two files.nrm2'
    [ ! -e executed ]
}

@test "an installation has the completions where the shells look for them" {
    [ -d "${STAGE:-}/bin" ] || skip "needs the installed programs"
    for program in "$BUILD_DIR"/bin/*; do
        program=${program##*/}
        [ -e "$STAGE/share/bash-completion/completions/$program" ]
        [ -e "$STAGE/share/fish/vendor_completions.d/$program.fish" ]
        head -n 1 "$STAGE/share/zsh/site-functions/_pitrace" | grep -q "^#compdef.* $program\( \|$\)"
    done
}

@test "fish completes the same" {
    type -P fish >/dev/null || skip "needs fish"
    lines | check_lines fish
}

@test "zsh completes the same" {
    type -P zsh >/dev/null || skip "needs zsh"
    lines | check_lines zsh
}

# The words of a help text that are options: --help of C++ programs shows every long option with two dashes.
options_of_help() {
    COLUMNS=200 "$@" --help | awk '
        /^Examples:/ { exit }
        /^  -/ {
            sub(/^ +/, "")
            gsub(/\[ --help \]/, ", --help")
            sub(/   +.*/, "")
            n = split($0, words, /, /)
            for (i = 1; i <= n; i++) {
                sub(/[ =].*/, "", words[i])
                if (words[i] ~ /^--?[A-Za-z]/) print words[i]
            }
        }'
}

@test "every option of every help text is completed, and no other" {
    bash --norc -c '
        source "$COMPLETIONS/bash/pitrace"
        for context in "${!_pitrace_table[@]}"; do
            [[ $context == *" "[-+=]* || $context == "pitrace "* ]] || for option in ${_pitrace_table[$context]}; do echo "$context $option"; done
        done' | sort >completed
    cut -d ' ' -f 1 completed | sort -u | comm -13 - <(ls "$BUILD_DIR/bin") >missing
    [ "$(cat missing)" = pitrace ]
    sed 's/ -.*//' completed | sort -u >contexts
    [ "$(wc -l <contexts)" -gt 45 ]
    while read -r -a context; do
        options_of_help "${context[@]}" | grep -vx -- -h | sed "s/^/${context[*]} /" || echo "no options: ${context[*]}"
    done <contexts | sort >documented
    diff completed documented
}

@test "scripts accept every option of their help, and no option that it does not name" {
    for script in run.tprof run.itrace run.minima ddq tinstall tuninstall; do
        # The patterns of the options in the script.
        # shellcheck disable=SC2016 # the word of a script
        sed -nE '/^ *case \$(word|1) in/,/^ *esac/s/^ *(-[^)]*)(\).*|\|.*\\)$/\1/p' "$BUILD_DIR/bin/$script" | tr '|' '\n' | tr -d " '" |
            grep -vxE -- '--?|-\?+|-h|-\*' | sort -u >accepted
        [ -s accepted ]
        options_of_help "$BUILD_DIR/bin/$script" | grep -vx -- -h | sort -u >documented
        comm -23 documented accepted >refused
        [ ! -s refused ] || { echo "$script refuses" && cat refused && false; }
        # Long forms of run.itrace's classic options with one dash, and short ones of others.
        comm -13 documented accepted >undocumented
        while read -r option; do grep -qx -- "-\?$option\|${option#-}" documented || { echo "$script: undocumented: $option" && false; }; done <undocumented
    done
}
