# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A chroot without files of this machine except post: a trace's modules are missing there, or differ. Sourced.

# other_machine ROOT POST: copies post and its libraries to paths that no trace refers to.
other_machine() {
  local root=$1 post=$2 library
  mkdir -p "$root"/{post,work}
  cp "$post" "$root/post/post"
  ldd "$post" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' | while read -r library; do
    cp -L "$library" "$root/post/"
  done
}

# on_other_machine ROOT POST-ARGUMENT...: runs post there, with its files in /work and without /proc.
on_other_machine() {
  local root=$1
  shift
  # The loader is called explicitly: the interpreter path in the program does not exist there.
  chroot "$root" /post/ld-linux-x86-64.so.2 --library-path /post /post/post -o /work "$@"
}

# other_files ROOT TRACE-JSON: creates a different file at the path of every module of the report.
other_files() {
  local root=$1 json=$2 path
  jq -r '.reports[] | select(.title == "Module") | .rows[].name | select(startswith("/"))' "$json" |
    while IFS= read -r path; do
      mkdir -p "$root${path%/*}"
      cp /bin/true "$root$path"
    done
}
