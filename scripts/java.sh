# shellcheck shell=bash
# shellcheck disable=SC2154 # bin, here, out, scratch, command, target, java: set by the caller
# SPDX-License-Identifier: MIT
# Adds JProf to the Java virtual machines that run.tprof and run.itrace trace: to a command, or to a running process.
# Sourced, not run; the caller has set -euo pipefail.

agent='' attacher='' to_attacher=''
java_targets=()

find_agent() {
  local directory
  for directory in "$bin/../lib" "$bin"/../lib/*-linux-gnu "$bin"/../lib/*-linux-gnu/jni; do
    if [[ -f $directory/libjprof.so ]]; then
      agent=$(readlink -f "$directory/libjprof.so")
      return
    fi
  done
  local source="it is built where a JDK is installed"
  # Installed by the system's package manager.
  [[ $bin != /usr/bin ]] || source="install the package pitrace-jprof"
  say "libjprof.so is missing ($source): Java methods will have no names"
  return 1
}

# plain_path PATH NAME: PATH; or a link to it, if it contains characters that separate agent options.
plain_path() {
  local path=$1
  if [[ $path == *[[:space:],=\'\"]* ]]; then
    path=$scratch/$2
    ln -sfn "$1" "$path"
  fi
  printf %s "$path"
}

agent_options() { printf 'tprof,logpath=%s' "$(plain_path "$1" logs)"; } # agent_options DIRECTORY

# How the agent is passed to the command: line (an option for java), environment (for other programs of a JDK, or with
# --java=all), or none.
agent_method() {
  local program directory
  program=$(type -P -- "${command[0]:-}") || program=''
  directory=$(dirname "$(readlink -f "$program")")
  # In a JDK's own directory java is a file, in /usr/bin a link.
  if [[ $java == none || -z $program ]]; then echo none
  elif [[ $java == all ]]; then echo environment
  elif [[ ${program##*/} == java ]]; then echo line
  elif [[ -f $directory/java && -x $directory/java && ! -L $directory/java ]]; then echo environment
  else echo none; fi
}

# is_jvm PID: a first check, by names that any process can choose. It only decides whether JProf is built and pitrace-attach
# is started, which checks the process itself; no file that the process owns or names is used.
is_jvm() {
  timeout 5 grep -qE '^[0-9a-f]+-[0-9a-f]+ ..x. [^/]*/(.*/)?libjvm\.so( \(deleted\))?$' "/proc/$1/maps" 2>/dev/null
}

# choose_java_targets ROOT: in a source tree, sets java_targets to what must be built for the command or process: nothing,
# or JProf.
choose_java_targets() {
  [[ $(agent_method) != none ]] || { [[ $java != none && -n $target ]] && is_jvm "$target"; } || return 0
  # shellcheck disable=SC2034 # the caller builds them
  java_targets=(java_profiler)
  [[ ! -f $1/build/lib/libjprof.so ]] || return 0
  # Without a JDK the report is made without Java names, and a message names the missing package.
  need_packages java || return 0
  # Configure again: the last configuration may have found no JDK.
  rm -f "$1/build/build.ninja"
}

# add_java_option WAY OPTION: adds it to the command, or to the environment.
add_java_option() {
  if [[ $1 == line ]]; then
    command=("${command[0]}" "$2" "${command[@]:1}")
    say "Java: added $2 to the command"
  else
    export JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS:+$JAVA_TOOL_OPTIONS }$2"
    say "Java: added $2 to JAVA_TOOL_OPTIONS"
  fi
}

# Adds the agent to the command if it is a program of a JDK, or to all JVMs that it starts. With call stacks, compiled methods
# also keep frame pointers.
prepare_java() {
  local way word
  way=$(agent_method)
  [[ $way != none ]] || return 0
  if ((${stacks:-0})); then add_java_option "$way" -XX:+PreserveFramePointer; fi
  for word in "${command[@]}" "${JAVA_TOOL_OPTIONS:-}"; do
    if [[ $word == *-agent*jprof* ]]; then
      say "JProf is in the command already; its logs must be in $out, else pass their prefix with --post='-jdir PREFIX'"
      return 0
    fi
  done
  find_agent || return 0
  add_java_option "$way" "-agentpath:$(plain_path "$agent" libjprof.so)=$(agent_options "$out")"
}

# Loads JProf into the traced process if it is a Java virtual machine. pitrace-attach runs until detach_java; it opens
# the process's files with the rights of the process's user.
attach_java() {
  local answer='' from_attacher problem result=0
  [[ $java != none ]] && is_jvm "$target" || return 0
  find_agent || return 0
  mkfifo "$scratch/to-attacher" "$scratch/from-attacher"
  "$bin/pitrace-attach" --follow "$out" "$target" "$agent" \
    <"$scratch/to-attacher" >"$scratch/from-attacher" 2>"$scratch/attach.log" &
  attacher=$!
  exec {to_attacher}>"$scratch/to-attacher" {from_attacher}<"$scratch/from-attacher"
  # pitrace-attach answers or exits within a limited time.
  read -r answer <&"$from_attacher" || true
  exec {from_attacher}<&-
  if [[ $answer == attached ]]; then
    say "Java: added JProf to process $target"
    return 0
  fi
  end_attacher || result=$?
  # 2: the process is not a Java virtual machine.
  ((result == 2)) || say "JProf cannot be added to process $target, its methods will have no names: $problem"
}

# end_attacher: ends pitrace-attach and sets problem to its messages.
end_attacher() {
  local result=0
  exec {to_attacher}>&-
  wait "$attacher" || result=$?
  attacher=''
  problem=$(sed 's/^pitrace-attach: \(error: \)\{0,1\}//' "$scratch/attach.log")
  return "$result"
}

# Ends JProf in the process; its logs are then in the trace's directory.
detach_java() {
  local problem=''
  [[ -n $attacher ]] || return 0
  end_attacher || true
  [[ -z $problem ]] || say "JProf in process $target: $problem"
}
