# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A root that has nothing of this machine but post: where a trace's files are not, or are others. Sourced.

# other_machine ROOT POST: post and what it links to, in places where no trace looks for them.
other_machine() {
  local root=$1 post=$2 library
  mkdir -p "$root"/{post,work}
  cp "$post" "$root/post/post"
  ldd "$post" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' | while read -r library; do
    cp -L "$library" "$root/post/"
  done
}

# on_other_machine ROOT POST-ARGUMENT...: runs it there; its files are in /work. There is not even /proc.
on_other_machine() {
  local root=$1
  shift
  # The loader by its own name: the program names one that is not there.
  chroot "$root" /post/ld-linux-x86-64.so.2 --library-path /post /post/post -o /work "$@"
}

# other_files ROOT TRACE-JSON: at the path of every module of the report another file of that name.
other_files() {
  local root=$1 json=$2 path
  jq -r '.reports[] | select(.title == "Module") | .rows[].name | select(startswith("/"))' "$json" |
    while IFS= read -r path; do
      mkdir -p "$root${path%/*}"
      cp /bin/true "$root$path"
    done
}
