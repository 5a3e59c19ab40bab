#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# scripts/release: what it refuses, in a small repository whose check and packages are fakes; CHANGELOG.md of this tree.

bats_require_minimum_version 1.5.0

setup() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
    mkdir -p "$BATS_TEST_TMPDIR/tree/scripts"
    cd "$BATS_TEST_TMPDIR/tree" || return
    cp "$SOURCE_DIR"/scripts/{release,lib.sh} scripts/
    # The check logs its words, and fails while there is a file ../fail.
    cat >scripts/check <<'END'
#!/bin/sh
echo "check $*" >>../ran
if [ "$1" = --owed ]; then printf 'build\nfresh\nproofs-.*-other\n'; exit; fi
[ ! -e ../fail ]
END
    mkdir tests
    printf '#!/bin/sh\necho fresh >>../ran\n' >tests/fresh-machine
    chmod 755 tests/fresh-machine
    printf '#!/bin/sh\necho package >>../ran\n' >scripts/package
    chmod 755 scripts/*
    echo 'project(pitrace VERSION 1.2.3 LANGUAGES C)' >CMakeLists.txt
    printf '# Changes\n\n## 1.2.3 (2026-11-25)\n\n- A change.\n\n## 1.2.2 (2026-01-01)\n\n- The first.\n' >CHANGELOG.md
    echo /build/ >.gitignore
    git init -q -b main . && git add -A && git commit -qm first
}

# refuses TEXT WORD...: exits with 1, has run no test, created no tag, and prints TEXT.
refuses() {
    local text=$1
    shift
    run -1 scripts/release "$@"
    [[ $output == *FAIL*"$text"*"nothing else was run"* ]] || { echo "$output" && false; }
    [ ! -e ../ran ]
    [ "$(git tag)" = "${tags:-}" ]
}

commit() { git add -A && git commit -qm "$1"; }

@test "help goes to the standard output; wrong usage exits with 255" {
    run -0 --separate-stderr scripts/release --help
    [[ $output == "Usage: scripts/release"* && -z $stderr ]]
    for words in -x stray --base '--base none' '--quick --tag'; do
        # shellcheck disable=SC2086 # several words
        run -255 --separate-stderr scripts/release $words
        [[ -z $output && $stderr == "release: error:"* ]]
    done
    [ ! -e ../ran ]
}

@test "a tree that is ready passes every item, runs the owed tests, and is tagged only with --tag" {
    run -0 scripts/release --quick
    [ ! -e ../ran ]
    run -0 --separate-stderr scripts/release
    for item in tree version changelog check long packages unchanged; do grep -qE "^$item +pass" <<<"$output"; done
    [ "$(git tag)" = '' ]
    [ "$(cat ../ran)" = "check "$'\n'"check --owed $(git hash-object -t tree /dev/null)"$'\n'fresh$'\n'"check long -R ^long/(build|proofs-.*-other)\$"$'\n'package ]
    run -0 scripts/release --tag --base HEAD
    [ "$(git tag)" = v1.2.3 ]
    [ "$(git rev-parse 'v1.2.3^{commit}')" = "$(git rev-parse HEAD)" ]
    grep -q -- '--owed HEAD' ../ran
}

@test "the last tag is the base" {
    git tag v1.0.0
    echo more >>.gitignore
    commit second
    run -0 scripts/release
    grep -q -- '--owed v1.0.0' ../ran
}

@test "it refuses uncommitted and unknown files, and a HEAD without a branch" {
    echo >>CMakeLists.txt
    refuses "CMakeLists.txt"
    git checkout -q CMakeLists.txt
    : >stray
    refuses "stray" --tag
    rm stray
    git checkout -q --detach
    refuses "on no branch"
}

@test "it refuses a version that is malformed or tagged, and a changelog without it" {
    git tag v1.2.3
    tags=v1.2.3 refuses "tagged already"
    git tag -d v1.2.3
    sed -i 's/1\.2\.3/1.2/' CMakeLists.txt
    commit version
    refuses 'has the version "1.2"'
    sed -i 's/1\.2 /1.2.4 /' CMakeLists.txt
    commit version
    refuses 'not "## 1.2.4 (YYYY-MM-DD)"'
    sed -i 's/^## 1.2.3 .*/## 1.2.4 (unreleased)/' CHANGELOG.md
    commit changelog
    refuses '"## 1.2.4 (unreleased)"'
    sed -i 's/unreleased/2026-11-26/; /A change/d' CHANGELOG.md
    commit changelog
    refuses 'no change of 1.2.4'
    rm CHANGELOG.md
    commit changelog
    refuses 'there is no CHANGELOG.md'
}

@test "a failed check, and a commit while it runs, prevent the tag" {
    : >../fail
    run -1 scripts/release --tag
    [[ $output == *"check      FAIL"*"build/release/check.log"*"not ready"* ]]
    grep -q package ../ran
    rm ../fail
    # shellcheck disable=SC2016 # expanded by the script
    printf '#!/bin/sh\ncd "$(dirname "$0")/.." && git commit -q --allow-empty -m late\n' >scripts/package
    commit package
    run -1 scripts/release --tag
    [[ $output == *"HEAD has moved"* ]]
    [ "$(git tag)" = '' ]
}

@test "the owed tests are those of the table; every test that it names exists" {
    cd "$SOURCE_DIR"
    git rev-parse --verify -q HEAD >/dev/null || skip "needs the repository"
    run -0 --separate-stderr scripts/check --owed "$(git hash-object -t tree /dev/null)"
    [[ $output == *$'\n'build$'\n'*$'\n'statefuzz$'\n'* ]]
    ctest --test-dir "$BUILD_DIR" -N -L '^long$' | sed -nE 's/.*: (long\/.*)/\1/p' >"$BATS_TEST_TMPDIR/tests"
    # "fresh" is tests/fresh-machine, which is no test of CTest.
    while read -r name; do
        [ "$name" = fresh ] || grep -qE "^long/$name$" "$BATS_TEST_TMPDIR/tests" || { echo "$name" && false; }
    done <<<"$output"
}

@test "CHANGELOG.md begins with the version of CMakeLists.txt" {
    version=$(sed -nE 's/^project\(pitrace VERSION ([0-9.]+).*/\1/p' "$SOURCE_DIR/CMakeLists.txt")
    grep -m 1 '^## ' "$SOURCE_DIR/CHANGELOG.md" | grep -qE "^## $version \((unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})\)$"
}
