# shellcheck shell=bash
# shellcheck disable=SC2154 # bin, here, out, scratch, command, target, java: the caller's
# SPDX-License-Identifier: MIT
# JProf for the Java virtual machines that run.tprof traces: added to a command, or to a process that runs. Sourced,
# not run; the caller has set -euo pipefail.

agent='' copied='' attached='' jvm_logs='' logs_fd='' jvm_user=()

find_agent() {
  local directory
  for directory in "$bin/../lib" "$bin"/../lib/*-linux-gnu; do
    if [[ -f $directory/libjprof.so ]]; then
      agent=$(readlink -f "$directory/libjprof.so")
      return
    fi
  done
  say "libjprof.so is not there (it is built where a JDK is installed): Java methods will have no names"
  return 1
}

# plain_path PATH NAME: PATH, or a link to it where it holds what has a meaning in a list of options.
plain_path() {
  local path=$1
  if [[ $path == *[[:space:],=\'\"]* ]]; then
    path=$scratch/$2
    ln -sfn "$1" "$path"
  fi
  printf %s "$path"
}

agent_options() { printf 'tprof,logpath=%s' "$(plain_path "$1" logs)"; } # agent_options DIRECTORY

# How the agent gets to the command: line (it is java), environment (another program of a JDK, or all Java virtual
# machines are meant), or none.
agent_way() {
  local program directory
  program=$(type -P -- "${command[0]:-}") || program=''
  directory=$(dirname "$(readlink -f "$program")")
  # In a JDK's own directory java is no link.
  if [[ $java == none || -z $program ]]; then echo none
  elif [[ $java == all ]]; then echo environment
  elif [[ ${program##*/} == java ]]; then echo line
  elif [[ -f $directory/java && -x $directory/java && ! -L $directory/java ]]; then echo environment
  else echo none; fi
}

is_jvm() { grep -q '/libjvm\.so' "/proc/$1/maps" 2>/dev/null; }

# build_jprof_too ROOT: in the source tree, before the build, so that it has JProf where that is wanted.
build_jprof_too() {
  [[ $(agent_way) != none ]] || { [[ $java != none && -n $target ]] && is_jvm "$target"; } || return 0
  [[ ! -f $1/build/lib/libjprof.so ]] || return 0
  # Without it there is a report all the same, and a message.
  "$here/install-deps" java || return 0
  # What was configured before there was a JDK is configured again.
  rm -f "$1/build/build.ninja"
}

# Adds the agent to the command where that is a JDK's program, or to all it starts.
prepare_java() {
  local way word
  way=$(agent_way)
  [[ $way != none ]] || return 0
  for word in "${command[@]}" "${JAVA_TOOL_OPTIONS:-}"; do
    if [[ $word == *-agent*jprof* ]]; then
      say "JProf is in the command already; for names its logs have to lie in $out, or name them by --post='-jdir PREFIX'"
      return 0
    fi
  done
  find_agent || return 0
  local option
  option=-agentpath:$(plain_path "$agent" libjprof.so)=$(agent_options "$out")
  if [[ $way == line ]]; then
    command=("${command[0]}" "$option" "${command[@]:1}")
    say "Java: added $option to the command"
  else
    export JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS:+$JAVA_TOOL_OPTIONS }$option"
    say "Java: added $option to JAVA_TOOL_OPTIONS"
  fi
}

# agent_command OPTIONS: loads the agent into the process, or talks to the one that is there.
agent_command() {
  local jcmd
  jcmd=$(dirname "$(readlink "/proc/$target/exe")")/jcmd
  [[ -x $jcmd ]] || jcmd=$(type -P jcmd) || {
    echo "jcmd is not installed (a JDK has it)"
    return 1
  }
  local answer
  # In quotes, without which jcmd takes '=' and ',' for its own.
  answer=$("$jcmd" "$target" JVMTI.agent_load "\"$agent\"" "\"$1\"" 2>&1) || {
    echo "$answer"
    return 1
  }
  # What the agent returned stands in the answer's last line.
  [[ $answer == *"return code: 0"* ]] || {
    echo "$answer"
    return 1
  }
}

# With the rights of who runs the traced process: what it could do itself, no more.
as_jvm_user() { "${jvm_user[@]}" "$@"; }

# Puts the agent into the traced process, if that is a Java virtual machine.
attach_java() {
  [[ $java != none ]] && is_jvm "$target" || return 0
  find_agent || return 0
  local root=/proc/$target/root uid problem='' inside=$out
  uid=$(stat -c %u "/proc/$target") || return 0
  if ((EUID == 0 && uid != 0)); then
    jvm_user=(setpriv "--reuid=$uid" "--regid=$(stat -c %g "/proc/$target")" --clear-groups --)
  fi
  jvm_logs=$out
  # Another user may not get to where the trace goes; in a container it is somewhere else.
  if ((uid != EUID)) || [[ ! $root$out -ef $out ]]; then
    if [[ -L $root/tmp ]] || ! jvm_logs=$(as_jvm_user mktemp -d -p "$root/tmp" pitrace.XXXXXX 2>&1); then
      say "process $target can write its logs nowhere, its methods will have no names: $jvm_logs"
      jvm_logs=''
      return 0
    fi
    inside=${jvm_logs#"$root"}
    # By which it can be found when the process is gone, and its view of the files with it.
    exec {logs_fd}<"$jvm_logs"
  fi
  # Neither may it get to where JProf is.
  if [[ ! $root$agent -ef $agent ]] || ! as_jvm_user test -r "$agent"; then
    copied=$jvm_logs/libjprof.so
    as_jvm_user tee "$copied" <"$agent" >/dev/null && agent=$inside/libjprof.so
  fi
  if problem=$(agent_command "$(agent_options "$inside")"); then
    attached=1
    say "Java: added JProf to process $target"
  else
    say "JProf cannot be added to process $target, its methods will have no names: $problem"
  fi
}

# Takes the agent out again, and fetches the logs that it could not write beside the trace.
detach_java() {
  local problem file name
  if [[ -n $attached ]]; then
    attached=''
    if [[ -e /proc/$target ]] && ! problem=$(agent_command detach); then
      say "JProf could not be taken out of process $target: $problem"
    fi
  fi
  if [[ $copied == "$out"/* ]]; then rm -f "$copied"; fi
  if [[ -n $jvm_logs && $jvm_logs != "$out" ]]; then
    for file in "/proc/self/fd/$logs_fd"/log-*; do
      name=${file##*/}
      [[ $name =~ ^log-(jita2n|jtnm|msg)_[0-9]+$ ]] || continue
      as_jvm_user cat "$file" >"$out/$name" || say "$file cannot be read"
    done
    as_jvm_user find "/proc/self/fd/$logs_fd/" -mindepth 1 -delete || true
    exec {logs_fd}<&-
    as_jvm_user rmdir "$jvm_logs" 2>/dev/null || as_jvm_user rmdir "/tmp/${jvm_logs##*/}" 2>/dev/null || true
  fi
  jvm_logs=''
}
