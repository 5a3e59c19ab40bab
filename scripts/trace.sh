# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Functions that run.tprof and run.itrace share: load the module for one run, start a recorder for this run only, start
# the command when the trace is on, and a guard process that cleans up. Sourced, after lib.sh. The callers set source
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

# split_post_options TEXT: splits options for post at blanks into post_words; quotes and backslashes work as in a shell.
post_words=()
split_post_options() {
  [[ $1 == *[![:space:]]* ]] || return 0
  xargs -r printf '%s\0' <<<"$1" >/dev/null 2>&1 || wrong "--post has an unterminated quote: $1"
  # shellcheck disable=SC2034 # the callers use it
  mapfile -d '' post_words < <(xargs -r printf '%s\0' <<<"$1")
}

# Builds the module for this run, as root on a kernel that can load modules; sets module_object, empty without a module.
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

# Without a source tree: the module that the package pitrace-dkms, or an administrator, installed for the running kernel; sets
# module_object to its name. Without one the trace is made without the module, or its start fails with the reason.
prepare_installed_module() {
  if ((EUID == 0)) && [[ $source != perf && -e /proc/modules && ! -e /dev/pitrace ]] && modinfo -n pitrace >/dev/null 2>&1; then
    module_object=pitrace
  fi
}

# check_command NAME: exits with a shell's status (127, 126) if the command does not exist or cannot be executed.
check_command() {
  local found
  [[ -n $1 ]] || die "the command is an empty word" 127
  if ! found=$(type -P -- "$1"); then
    [[ $1 == */* && -e $1 ]] || die "$1: command not found" 127
    found=$1
  fi
  [[ ! -d $found ]] || die "$1: is a directory, no command" 126
  [[ -x $found ]] && return
  [[ $found != "$1" ]] || die "$1: may not be executed; chmod +x makes it a command" 126
  die "$1: $found may not be executed; chmod +x makes it a command" 126
}

# begin_guard: starts the guard and sets scratch to a new directory. The guard is a process that ends the recorder, unloads
# the module and removes the directory when this script ends, even by SIGKILL: it then reads the end of a pipe, since only
# this script has the pipe's write end.
scratch='' to_guard='' from_guard='' guard_process='' loaded=0
begin_guard() {
  # setsid: signals to the process group of the script and its command do not reach the guard.
  coproc guard { me=${me:?} exec setsid bash -c "$(declare -f say printable print_bytes trusted_directory guard_run); guard_run \"\$1\"" guard "${bin:?}/swtrace"; }
  # shellcheck disable=SC2154 # coproc sets guard_PID
  to_guard=${guard[1]:-} from_guard=${guard[0]:-} guard_process=${guard_PID:-}
  # If the guard has ended already, there is no descriptor.
  read -r scratch <&"$from_guard" || die "cannot create a temporary directory"
}

# guard_run SWTRACE: runs in the guard. Reads requests, one a line: "insmod FILE" and "modprobe NAME", whose answer is a line
# with the error message (empty: loaded), and "keep", which ends the guard without cleaning up.
guard_run() {
  local swtrace=$1 top request loaded=0 fifo problem attempts=0
  trap '' HUP INT QUIT TERM PIPE
  # This one runs as root perhaps, and the environment can be another user's.
  if [[ -n ${TMPDIR:-} ]] && ! trusted_directory "$TMPDIR"; then
    say "warning: other users can change what is in TMPDIR ($TMPDIR); /tmp is used"
    export TMPDIR=/tmp
  fi
  top=$(mktemp -d) && mkdir "$top/run" || return
  printf '%s\n' "$top/run" 2>/dev/null # the script may have been killed
  while read -r request; do
    [[ $request != keep ]] || return 0
    problem=$("${request%% *}" "${request#* }" 2>&1) && loaded=1
    printf '%s\n' "${problem//$'\n'/ }" 2>/dev/null
  done
  # After the rename no process can create a file or a recorder there. Opening each FIFO releases a process that waits for
  # its other end; the process then finds no file and exits.
  mv "$top/run" "$top/ended"
  for fifo in "$top"/ended/*; do
    if [[ -p $fifo ]]; then : <>"$fifo"; fi
  done
  # A recorder holds the lock until it exits. It may write a file before that.
  until flock -n "$top/ended/recorder.lock" true 2>/dev/null || ((++attempts > 1000)); do
    PITRACE_SOCKET=$top/ended/recorder "$swtrace" free >/dev/null 2>&1 || sleep 0.05
  done
  if ((loaded)); then
    rmmod pitrace 2>/dev/null || say "the module stays loaded: another process uses it (ddq shows which); unload it later with tuninstall"
  fi
  rm -rf "$top"
}

# end_guard: closes the pipe, and waits until the guard has cleaned up.
end_guard() {
  [[ -n $to_guard ]] || return 0
  exec {to_guard}>&-
  to_guard=''
  wait "$guard_process" || true
}

# load_module ALTERNATIVE: loads module_object, if any: a file, or the name of an installed module. A failure is fatal with
# --source=driver, else the message names
# ALTERNATIVE.
load_module() {
  [[ -n $module_object ]] || return 0
  local problem program=modprobe
  if [[ $module_object == */* ]]; then program=insmod; fi
  echo "$program $module_object" >&"$to_guard"
  read -r problem <&"$from_guard" || die "the process that loads the module was killed"
  if [[ -z $problem ]]; then
    loaded=1
  elif [[ $source == driver ]]; then
    die "cannot load $module_object: $problem; \"swtrace check\" shows the reason"
  else
    say "the module cannot be loaded (${problem##*: }); $1"
  fi
}

# keep_old DIR NAME...: renames existing files to NAME.old. A symbolic link itself is renamed; a directory NAME.old is an
# error, and no file is moved into it.
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

# restore_old: undoes keep_old. Once the new files are complete, the caller sets kept=(). -T: in a directory of another user the
# old name can be a link to a directory now, and no file may be moved into that.
restore_old() {
  local path
  for path in "${kept[@]}"; do mv -fT "$path.old" "$path" || true; done
  kept=()
}

# seconds NUMBER: "1 second", "2 seconds"
seconds() {
  if (($1 == 1)); then echo "1 second"; else echo "$1 seconds"; fi
}

# make_output_directory: creates $out and makes the path absolute.
make_output_directory() {
  local problem
  [[ -n $out ]] || wrong "-o needs the name of a directory, not an empty word"
  [[ ! -e $out || -d $out ]] || die "$out is a file, not a directory; choose a directory with -o"
  problem=$(mkdir -p -- "$out" 2>&1) || die "cannot create $out (${problem##*: }); choose another directory with -o"
  out=$(CDPATH='' cd "$out" && pwd) || die "cannot enter $out; choose another directory with -o"
  [[ -w $out ]] || die "cannot write to $out; choose another directory with -o"
}

# Uses the recorder of this run, so that another recorder of the same user is not disturbed.
swtrace() { PITRACE_SOCKET=${scratch:?}/recorder "${bin:?}/swtrace" "$@"; }

# The exit status of COMMAND has priority over that of this script.
failed() { die "$1" "$((status ? status : 125))"; }

# check_printed STATUS: the exit status of a command that printed a part of the report, with its error messages in the
# log. 141 is SIGPIPE: the reader of a pipe may end before it has read everything.
check_printed() {
  (($1 == 141)) || failed "the report is complete in $out, but cannot be printed: $(message_of "$scratch/log")"
}

# report_text FILE: prints a report that this run has written. In a directory of another user this user can put anything in its
# place: links are not followed, nothing is waited for, and print_head shows no control characters.
report_text() {
  if [[ -f $1 && ! -L $1 ]]; then dd if="$1" iflag=nofollow,nonblock bs=64K status=none; fi
}

# print_head: prints the first lines of the report, which the caller's report_head selects.
print_head() {
  # cat: an error of the output is its exit status, and SIGPIPE ends only this process.
  cat <<<"$(printable "$(report_head)" $'\n\t')"
}

# keep_trace ERROR REPORT [COMMAND]: ends this run, leaves the trace in its recorder, and prints ERROR and the commands that
# write the trace: first swtrace COMMAND, if given; last REPORT, which makes the report from the file.
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

# write_trace REPORT: stops the trace and writes its file; REPORT as for keep_trace.
write_trace() {
  if ! swtrace off >"$scratch/log" 2>&1; then
    # A file that exists before 'get' was written while the trace ran, and contains the records that fitted on the disk.
    [[ -s $out/swtrace.nrm2 ]] || keep_trace "the trace could not be stopped" "$1" off
    say "error: $(message_of "$scratch/log")"
    if ((status == 0)); then status=125; fi
    return 0
  fi
  grep -i warning "$scratch/log" >&2 || true
  swtrace get "$out/swtrace.nrm2" >"$scratch/log" 2>&1 || keep_trace "the trace could not be written" "$1"
}

# say_signal: says so if a signal has ended the command perhaps.
say_signal() {
  case ${status:?} in
    132 | 134 | 135 | 136 | 137 | 139) say "the command's exit status is $status, as after SIG$(kill -l $((status - 128)))" ;;
  esac
}

# trace_gated COMMAND [ARG]...: runs the command when the trace is on, and sets status. The command runs in the foreground,
# so that it has the terminal, its input and its signals. Before its exec the shell waits for a background process, which
# starts the trace.
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
  # SIGINT and SIGQUIT end the command, not this script: the report is made then, too.
  trap : INT QUIT
  local errors
  exec {errors}>&2
  # Without the shell's own message, which quotes this script, when a signal ends the command.
  # shellcheck disable=SC2034 # the callers exit with it
  { bash -c "$gate" "$scratch" "$@" 2>&"$errors" {errors}>&-; } 2>/dev/null || status=$?
  exec {errors}>&-
  say_signal
  wait "$helper" || true
  trap - INT QUIT
  [[ -e $scratch/started ]] || die "the trace could not be started: $(message_of "$scratch/start.log")"
}
