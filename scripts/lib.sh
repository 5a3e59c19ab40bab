# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the scripts share: messages, the one-time build, where the programs are. Sourced, not run; the callers
# have set -euo pipefail.

# Messages carry the script's name; the caller sets it.
me=${me:-pitrace}
say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() {
  printf '%s: error: %s\n' "$me" "$1" >&2
  exit "${2:-125}"
}

# print_version: of the tools this script came with.
print_version() {
  local post
  for post in "${here:?}/post" "$(dirname "$here")/build/bin/post"; do
    [[ -x $post ]] || continue
    "$post" --version | sed "s/^post/$me/"
    return
  done
  printf '%s (pitrace), from a source tree that is not built\n' "$me"
}

# progress TEXT: one line that the next replaces, on a terminal only.
progress() {
  if [[ -t 2 ]]; then printf '\r\033[K%s: %s' "$me" "$*" >&2; fi
}
progress_end() {
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# need_packages GROUP...: has scripts/install-deps install what is missing of these groups; with no_install=1 only says what
# that is.
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

# use_built_tools DIR [TARGET...]: what another user has built.
use_built_tools() {
  local dir=$1 owner
  shift
  owner=$(stat -c %U "$dir")
  [[ -x $dir/bin/post && -x $dir/bin/swtrace ]] ||
    die "$dir belongs to $owner and is not built: let $owner run run.tprof once, or use a source tree of your own"
  # A dry run writes nothing.
  if ! ninja -n -C "$dir" "$@" 2>/dev/null | grep -q 'no work to do'; then
    say "warning: the programs in $dir are older than the sources; $owner makes new ones by running run.tprof"
  fi
}

# build_tools ROOT PRESET DIR [TARGET...]: configures once, builds what changed; quiet unless it takes long
# or fails. The log is shown on failure. The presets release and dev share a place, so that check need not build again
# what run.tprof has built: there dev adds the tests, and release takes what it finds.
build_tools() {
  local root=$1 preset=$2 dir=$3
  shift 3
  local log=$dir/build.log status=0
  mkdir -p "$dir" || die "cannot create $dir; make the source tree writable, or use a copy of your own"
  if [[ ! -w $dir || (-e $dir/.lock && ! -w $dir/.lock) ]]; then
    use_built_tools "$dir" "$@"
    return
  fi
  # Another user who could open it could hold it for ever.
  [[ -e $dir/.lock ]] || (umask 077 && : >"$dir/.lock")
  exec {build_lock}>"$dir/.lock" || die "cannot write to $dir; make the source tree writable"
  flock "$build_lock"
  if [[ ! -f $dir/build.ninja ]] || { [[ $preset != release ]] && grep -q '^PITRACE_TESTS:BOOL=OFF' "$dir/CMakeCache.txt"; }; then
    say "building in ${dir#"$PWD"/} (once; about two minutes)"
    progress "configuring"
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || status=$?
  fi
  if ((status == 0)); then
    # ninja's own "[done/total]" lines are the progress.
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
