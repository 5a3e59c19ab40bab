# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs run as a user who may do nothing: in a place that he can reach, as the way to the tree and to bats'
# own directories may be closed to him. Sourced.

# make_public FILE-OR-DIRECTORY...: $public, a directory that everybody can reach, with copies of them and with
# a home for nobody. The caller removes it.
make_public() {
  public=$(mktemp -d)
  chmod 755 "$public"
  cp -RL "$@" "$public"
  mkdir -m 700 "$public/home"
  chown 65534:65534 "$public/home"
}

# as_nobody COMMAND...: as the user nobody, at home, with the libraries in $public.
as_nobody() {
  (cd "$public/home" && setpriv --reuid 65534 --regid 65534 --clear-groups \
    env LD_LIBRARY_PATH="$public" PATH="$public:$PATH" "$@")
}
