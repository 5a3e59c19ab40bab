#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# msr from the command line: names, wrong use, machines without access. tests/lab reads and writes real registers.

bats_require_minimum_version 1.5.0

setup() {
    # shellcheck source=tests/support/other_user.bash
    source "$SOURCE_DIR/tests/support/other_user.bash"
    PATH="$BUILD_DIR/bin:$PATH"
}

teardown() {
    [ -z "${public:-}" ] || rm -rf "$public"
}

@test "-l lists registers by number and name, with -f also their fields" {
    run msr -l
    [ "$status" -eq 0 ]
    grep -qE '^0x0000001b  IA32_APIC_BASE +local APIC' <<<"$output"
    [ "$(grep -cE '^ +8  BSP ' <<<"$output")" -eq 0 ]
    run msr -l -f
    grep -qE '^ +8  BSP ' <<<"$output"
    grep -qE '^ +51-12  BASE ' <<<"$output"
    msr -l --json | jq -e '.registers[] | select(.name == "IA32_EFER") | .register == 3221225600 and
        any(.fields[]; .name == "LMA" and .high == 10 and .low == 10)'
}

@test "without the device msr reports the reason and the remedy, and fails" {
    [ ! -e /dev/cpu/0/msr ] || skip "this machine has the device"
    run msr TSC
    [ "$status" -eq 1 ]
    [[ "$output" == "msr: error: There is no /dev/cpu/0/msr: "* ]]
    # modprobe is advised only if the kernel can load modules.
    if [ -e /proc/modules ]; then [[ "$output" == *"modprobe msr"* ]]; else [[ "$output" == *"no loadable modules"* ]]; fi
    # One message, not one for each CPU.
    [ "$(grep -c . <<<"$output")" -le "$(getconf _NPROCESSORS_ONLN)" ]
    run msr -c 0 TSC=0
    [ "$status" -eq 1 ]
    run --separate-stderr msr --json -c 0 TSC
    [ "$status" -eq 1 ]
    jq -e '.registers == [.registers[0]] and .registers[0].value == null and (.registers[0].error | length > 0)' <<<"$output"
}

@test "a user without root gets an error that names root, or the missing device" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    make_public "$BUILD_DIR/bin/msr" "$BUILD_DIR/lib/libperfutil.so.0"
    run as_nobody msr -c 0 TSC
    [ "$status" -eq 1 ]
    [[ "$output" == *"only root"* || "$output" == *"modprobe msr"* || "$output" == *"no loadable modules"* ]]
}

@test "wrong use exits 255 and reports the error" {
    for words in '' 'NO_SUCH' '0x1b:64' 'TSC:5-6' '-c x TSC' '-c TSC' 'TSC=1' 'TSC=x' '-c 0 TSC:3=2' '-l TSC' \
        '-d -x TSC' '-q -f TSC' '--json -q TSC' '-z TSC' '0x100000000'; do
        # shellcheck disable=SC2086
        run msr $words
        [ "$status" -eq 255 ] || { echo "$words: $status: $output"; false; }
        [[ "$output" == *"msr: error: "* ]]
    done
}

@test "help and version go to standard output" {
    for word in --help '-?' '-??' -h; do
        run --separate-stderr msr "$word"
        [ "$status" -eq 0 ]
        [[ "$output" == "Usage: msr "* ]]
        [ -z "$stderr" ]
    done
    run msr --version
    [ "$status" -eq 0 ]
    [[ "$output" == "msr (pitrace) "* ]]
}
