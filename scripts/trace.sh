# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What run.tprof and run.itrace share: the module for one run, a recorder of the run's own, a command that
# waits until the trace is on, and a guard that ends all of it. Sourced, behind lib.sh. The callers set source
# (auto, driver or perf), bin and here, define start_recorder PID, and begin with status=0 and module_object=''.

wrong() {
  say "error: $1"
  printf 'Try %s --help.\n' "${me:?}" >&2
  exit 255
}

number() { # number OPTION VALUE MIN MAX
  if [[ ! $2 =~ ^[0-9]{1,9}$ ]] || ((10#$2 < $3 || 10#$2 > $4)); then
    wrong "$1 takes a whole number from $3 to $4, not \"$2\""
  fi
}

# As root on a kernel that takes modules: build the module, to be loaded for this run.
prepare_module() {
  local why=''
  if ((EUID != 0)); then why="loading it needs root"
  elif [[ ! -e /proc/modules ]]; then why="this kernel has no loadable modules"
  elif [[ $(cat /proc/sys/kernel/modules_disabled 2>/dev/null) == 1 ]]; then
    why="loading modules is switched off (kernel.modules_disabled)"
  elif ! need_packages module >&2; then why="its build dependencies are missing"
  elif [[ ! -e /lib/modules/$(uname -r)/build ]]; then
    why="the headers of kernel $(uname -r) are not installed"
  else
    progress "building the module"
    module_object=$("${here:?}/build-module") || why="it does not build for this kernel"
    progress_end
  fi
  [[ -z $why ]] && return
  module_object=''
  [[ ${source:?} == driver ]] && die "the pitrace module is not available: $why; --source=perf does without it"
  return 0
}

# check_command NAME: ends as a shell does where there is no such command, or it cannot be executed.
check_command() {
  local found
  if ! found=$(type -P -- "$1"); then
    [[ $1 == */* && -e $1 ]] || die "$1: command not found" 127
    found=$1
  fi
  [[ ! -d $found ]] || die "$1: is a directory, no command" 126
  [[ -x $found ]] || die "$1: $found may not be executed; chmod +x makes it a command" 126
}

# begin_guard: sets scratch, a new directory. The guard is a process that ends the recorder, unloads the module and removes
# the directory when this script ends, even by SIGKILL: it reads a pipe, whose other end bash gives to no other process.
scratch='' to_guard='' from_guard='' guard_process='' loaded=0
begin_guard() {
  # In a session of its own it gets no signal that is meant for the script and its command.
  coproc guard { me=${me:?} exec setsid bash -c "$(declare -f say guard_run); guard_run \"\$1\"" guard "${bin:?}/swtrace"; }
  # shellcheck disable=SC2154 # coproc sets guard_PID
  to_guard=${guard[1]:-} from_guard=${guard[0]:-} guard_process=${guard_PID:-}
  # If it has ended already, there is no descriptor.
  read -r scratch <&"$from_guard" || die "cannot create a temporary directory"
}

# guard_run SWTRACE: runs in the guard. Requests, a line each: "insmod MODULE", answered by the error message or an empty line, and "keep".
guard_run() {
  local swtrace=$1 top request loaded=0 fifo problem attempts=0
  trap '' HUP INT QUIT TERM PIPE
  top=$(mktemp -d) && mkdir "$top/run" || return
  printf '%s\n' "$top/run" 2>/dev/null # the script may have been killed
  while read -r request; do
    [[ $request != keep ]] || return 0
    problem=$(insmod "${request#insmod }" 2>&1) && loaded=1
    printf '%s\n' "${problem//$'\n'/ }" 2>/dev/null
  done
  # Under its new name nothing can be begun there. What waits for the other end of a FIFO goes on, and finds nothing.
  mv "$top/run" "$top/ended"
  for fifo in "$top"/ended/*; do
    if [[ -p $fifo ]]; then : <>"$fifo"; fi
  done
  # A recorder holds the lock from its start to its end. It may have to write a file before.
  until flock -n "$top/ended/recorder.lock" true 2>/dev/null || ((++attempts > 1000)); do
    PITRACE_SOCKET=$top/ended/recorder "$swtrace" free >/dev/null 2>&1 || sleep 0.05
  done
  if ((loaded)); then
    rmmod pitrace 2>/dev/null || say "the module stays loaded: another process uses it (ddq shows which); unload it later with tuninstall"
  fi
  rm -rf "$top"
}

# end_guard: has it end what it guards, and waits for this.
end_guard() {
  [[ -n $to_guard ]] || return 0
  exec {to_guard}>&-
  to_guard=''
  wait "$guard_process" || true
}

# load_module WHAT-INSTEAD
load_module() {
  [[ -n $module_object ]] || return 0
  local problem
  echo "insmod $module_object" >&"$to_guard"
  read -r problem <&"$from_guard" || die "the process that loads the module was killed"
  if [[ -z $problem ]]; then
    loaded=1
  elif [[ $source == driver ]]; then
    die "cannot load $module_object: $problem; \"swtrace check\" shows the reason"
  else
    say "the module cannot be loaded (${problem##*: }); $1"
  fi
}

# keep_old DIR NAME...: what is there becomes NAME.old; even a link itself, and never a file in a directory of that name.
kept=()
keep_old() {
  local directory=$1 name
  shift
  for name in "$@"; do
    if [[ -e $directory/$name || -L $directory/$name ]]; then
      mv -fT "$directory/$name" "$directory/$name.old" ||
        die "cannot rename $directory/$name to $name.old; remove both, or choose another directory with -o"
      kept+=("$directory/$name")
    fi
  done
}

# restore_old: undoes keep_old, unless kept=() says that the new files are there.
restore_old() {
  local path
  for path in "${kept[@]}"; do mv -f "$path.old" "$path"; done
  kept=()
}

# make_output_directory: $out, from now on absolute.
make_output_directory() {
  mkdir -p "$out" || die "cannot create $out; choose another directory with -o"
  out=$(cd "$out" && pwd) || die "cannot enter $out; choose another directory with -o"
  [[ -w $out ]] || die "cannot write to $out; choose another directory with -o"
}

# The recorder is this run's own: one that the user keeps running elsewhere is not disturbed.
swtrace() { PITRACE_SOCKET=${scratch:?}/recorder "${bin:?}/swtrace" "$@"; }

# COMMAND's own failure counts more than ours.
failed() { die "$1" "$((status ? status : 125))"; }

# keep_trace WHAT REPORT [COMMAND]: ends this run and leaves the trace in its recorder. WHAT failed; REPORT is the
# command that makes the report of a trace file; COMMAND of swtrace comes first.
keep_trace() {
  local unload='' top=${scratch%/*}
  echo keep >&"$to_guard"
  if ((loaded)); then unload=' && rmmod pitrace'; fi
  say "error: $1: $(message_of "$scratch/log")"
  cat >&2 <<END
The recorder keeps the whole trace in memory. When there is room, write it, end the recorder, and make the report:
  export PITRACE_SOCKET=${scratch@Q}/recorder${3:+
  ${bin@Q}/swtrace $3}
  ${bin@Q}/swtrace get ${out@Q}/swtrace.nrm2
  ${bin@Q}/swtrace free && rm -r ${top@Q}$unload
  $2
END
  exit "$((status ? status : 125))"
}

# write_trace REPORT: see keep_trace.
write_trace() {
  if ! swtrace off >"$scratch/log" 2>&1; then
    # Before 'get' there is a file only where it is written while the trace runs: what had room is in it.
    [[ -s $out/swtrace.nrm2 ]] || keep_trace "the trace could not be stopped" "$1" off
    say "error: $(message_of "$scratch/log")"
    if ((status == 0)); then status=125; fi
    return 0
  fi
  grep -i warning "$scratch/log" >&2 || true
  swtrace get "$out/swtrace.nrm2" >"$scratch/log" 2>&1 || keep_trace "the trace could not be written" "$1"
}

# trace_gated COMMAND [ARG]...: sets status. The command runs in the foreground, so that it has the terminal,
# its input and its signals; a helper in the background starts the trace and then lets it go on into exec.
trace_gated() {
  mkfifo "$scratch/pid" "$scratch/go"
  (
    read -r pid <"$scratch/pid"
    if start_recorder "$pid" 2>"$scratch/start.log" >/dev/null; then
      touch "$scratch/started"
    fi
    echo >"$scratch/go"
  ) &
  local helper=$!
  # shellcheck disable=SC2016 # expanded by the inner shell, whose $0 is the scratch directory
  local gate='echo $$ >"$0/pid"; read -r _ <"$0/go"; [ -e "$0/started" ] || exit 125; exec "$@"'
  # An interrupt is for the command; the report comes all the same.
  trap : INT QUIT
  # shellcheck disable=SC2034 # the callers exit with it
  bash -c "$gate" "$scratch" "$@" || status=$?
  wait "$helper" || true
  trap - INT QUIT
  [[ -e $scratch/started ]] || die "the trace could not be started: $(message_of "$scratch/start.log")"
}
