# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Functions that the scripts share: messages, the build, and the version. Sourced, not run; the callers have
# set -euo pipefail.

# is_closed FD: whether the caller has closed this standard descriptor. bash opens a script with the lowest free number and leaves
# that open, so a closed descriptor can lead to the script. Its position is then that of bash's own descriptor, 255.
is_closed() {
  local position own
  [[ -e /dev/fd/$1 ]] || return 0
  [[ /dev/fd/$1 -ef $0 ]] || return
  read -r position <"/proc/$$/fdinfo/$1" && read -r own <"/proc/$$/fdinfo/255" && [[ $position == "$own" ]]
}
# A file that is opened later must not become a program's standard output. That one is opened for reading: what is written there is
# still an error.
if is_closed 0; then exec 0</dev/null; fi
if is_closed 1; then exec 1</dev/null; fi
if is_closed 2; then exec 2>/dev/null; fi

# printable TEXT [KEPT]: prints it with all but ASCII, letters, digits and the characters of KEPT as \xNN: no control characters
# and no invisible ones, and no bytes that are not valid UTF-8. Names of files and programs can contain escape sequences for the
# terminal.
printable() {
  local LC_ALL=C.UTF-8 text=$1 kept=${2:-} char i
  local other="[^[:alnum:] -~$kept]"
  if [[ $text != *$other* ]]; then
    printf '%s' "$text"
    return
  fi
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    if [[ $char == [[:alnum:]] || $char == [' '-'~'] || $kept == *"$char"* ]]; then printf '%s' "$char"; else print_bytes "$char"; fi
  done
}

print_bytes() {
  local LC_ALL=C bytes=$1 code i
  for ((i = 0; i < ${#bytes}; i++)); do
    printf -v code %d "'${bytes:i:1}"
    printf '\\x%02x' $((code & 255))
  done
}

# Messages begin with the script's name, which the caller sets.
me=${me:-pitrace}
say() { printf '%s: %s\n' "$me" "$(printable "$*" $'\n\t')" >&2; }
die() {
  say "error: $1" || true
  exit "${2:-125}"
}

# trusted_directory DIR: no user but this one and root can replace what is in DIR, or DIR itself.
trusted_directory() {
  local path owner mode
  path=$(realpath -e -- "$1") || return
  while read -r owner mode < <(stat -c '%u %f' -- "$path"); do
    ((owner == 0 || owner == EUID)) || return
    # Others may write: only in a directory with the sticky bit they cannot rename what is not theirs.
    (((0x$mode & 0022) == 0 || (0x$mode & 01000) != 0)) || return
    [[ $path != / ]] || return 0
    path=$(dirname -- "$path")
  done
  return 1
}

# message_of FILE: prints the error message that a program wrote to FILE, for use in a message of the script.
message_of() {
  local text
  text=$(sed -E 's/^[a-z-]+: (error: )?//' "$1" 2>/dev/null) || true
  printf '%s\n' "${text:-without a message; perhaps the disk of ${1%/*} is full}"
}

# print_version: prints the version of the tools installed or built with this script.
print_version() {
  local post version
  for post in "${here:?}/post" "$(dirname "$here")/build/bin/post"; do
    [[ -x $post ]] || continue
    version=$("$post" --version) && printf '%s\n' "${version/#post/$me}"
    return
  done
  printf '%s (pitrace), from a source tree that is not built\n' "$me"
}

# progress TEXT: shows one line, on a terminal only; the next call replaces it.
progress() {
  if [[ -t 2 ]]; then printf '\r\033[K%s: %s' "$me" "$*" >&2; fi
}
progress_end() {
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# need_packages GROUP...: installs the missing packages of these groups with scripts/install-deps; with no_install=1 only
# lists them.
need_packages() {
  local missing
  if ((${no_install:-0} == 0)); then
    "${here:?}/install-deps" "$@"
    return
  fi
  missing=$("${here:?}/install-deps" --check "$@") && return
  say "packages are missing, and --no-install was given. Install them with: apt-get install ${missing//$'\n'/ }"
  return 1
}

# use_built_tools DIR [TARGET...]: uses a build of another user.
use_built_tools() {
  local dir=$1 owner
  shift
  owner=$(stat -c %U "$dir")
  [[ -x $dir/bin/post && -x $dir/bin/swtrace ]] ||
    die "$dir belongs to $owner and is not built: let $owner run run.tprof once, or use a source tree of your own"
  # A dry run does not write to DIR.
  if ! ninja -n -C "$dir" "$@" 2>/dev/null | grep -q 'no work to do'; then
    say "warning: the programs in $dir are older than the sources; $owner can rebuild them by running run.tprof"
  fi
}

# build_tools ROOT PRESET DIR [TARGET...]: configures once, builds changed files, and shows the log's end on failure. The
# presets release and dev share a directory, so that scripts/check need not repeat what run.tprof has built: dev adds the
# tests, and release leaves them as they are.
build_tools() {
  local root=$1 preset=$2 dir=$3
  shift 3
  local log=$dir/build.log status=0
  mkdir -p "$dir" || die "cannot create $dir; make the source tree writable, or use a copy of your own"
  if [[ ! -w $dir || (-e $dir/.lock && ! -w $dir/.lock) ]]; then
    use_built_tools "$dir" "$@"
    return
  fi
  # Mode 0600: another user who can open the file could hold the lock indefinitely.
  [[ -e $dir/.lock ]] || (umask 077 && : >"$dir/.lock")
  exec {build_lock}>"$dir/.lock" || die "cannot write to $dir; make the source tree writable"
  flock "$build_lock"
  if [[ ! -f $dir/build.ninja ]] || { [[ $preset != release ]] && grep -q '^PITRACE_TESTS:BOOL=OFF' "$dir/CMakeCache.txt"; }; then
    say "building in ${dir#"$PWD"/} (once; about two minutes)"
    progress "configuring"
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || status=$?
  fi
  if ((status == 0)); then
    # ninja's own "[done/total]" lines show the progress.
    (cd "$root" && NINJA_STATUS='[%f/%t] ' cmake --build "$dir" ${1:+--target "$@"} 2>&1) |
      while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        if [[ $line == \[* ]]; then progress "building ${line:0:60}"; fi
      done || status=1
  fi
  progress_end
  exec {build_lock}>&-
  if ((status != 0)); then
    tail -n 30 "$log" >&2
    die "the build failed; the whole log is $log"
  fi
}
