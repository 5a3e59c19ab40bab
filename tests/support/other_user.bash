# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Runs programs as an unprivileged user, in a directory accessible to that user; the source tree and bats' directories
# may not be accessible. Sourced.

# make_public FILE-OR-DIRECTORY...: sets $public, a world-accessible directory with copies of them and a home for the
# user nobody. The caller removes it.
make_public() {
  public=$(mktemp -d)
  chmod 755 "$public"
  cp -RL "$@" "$public"
  mkdir -m 700 "$public/home"
  chown 65534:65534 "$public/home"
}

# as_nobody COMMAND...: runs it as the user nobody, in its home, with the libraries in $public.
as_nobody() {
  (cd "$public/home" && setpriv --reuid 65534 --regid 65534 --clear-groups \
    env LD_LIBRARY_PATH="$public" PATH="$public:$PATH" "$@")
}
