# SPDX-License-Identifier: MIT
# The part of the completions for fish that is the same for all programs; scripts/completions writes the rest behind it.

# Whether the cursor is behind so many words.
function __pitrace_count
    set -l words (commandline -opc)
    test (count $words) -eq $argv[1]
end

# Whether the first word after the program is one of these.
function __pitrace_at
    set -l words (commandline -opc)
    contains -- "$words[2]" $argv
end

# Only harmless names: other users choose those of their processes.
function __pitrace_names
    cat /proc/*/comm 2>/dev/null | grep -v '[^A-Za-z0-9._+-]' | sort -u
end

function __pitrace_events
    swtrace event list 2>/dev/null | awk '/^  [A-Za-z]/ { print $1 }'
end

# Completes the last one of these words of a command line.
function __pitrace_line
    complete -C (string join ' ' -- (string escape -- $argv[1..-2]) "$argv[-1]")
end

# Whether the cursor is behind "--".
function __pitrace_after
    contains -- -- (commandline -opc)
end

# Completes the command after "--".
function __pitrace_command
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    __pitrace_line $words[(math $at + 1)..-1]
end

# Completes pitrace's line as that of the program which does the task. Arguments: TASK=PROGRAM for each task.
function __pitrace_task
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[2]
    for each in $argv
        set -l parts (string split -m 1 = -- $each)
        if test "$parts[1]" = "$words[2]"
            set program (string split ' ' -- $parts[2])
        end
    end
    __pitrace_line $program $words[3..-1]
end
