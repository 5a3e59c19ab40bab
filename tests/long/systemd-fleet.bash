# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that run beside a systemd: the packages' unit pitrace-fleet, its settings and its state. The caller has set stage, the folder
# with the programs as installed.
# shellcheck disable=SC2034,SC2154

source tests/lab/promises.bash
unit=pitrace-fleet
rounds=${rounds:-1500000} # a few seconds of a processor
state=/var/lib/pitrace
spool=$state/spool

value() { sed -n "s/^$1=//p" "$spool/status" 2>/dev/null; }
number() { echo $(($(value "$1") + 0)); }
shown() { systemctl show -P "$1" "$unit"; }

# Seconds since the machine has started; SECONDS changes when the clock is set.
uptime_s() { cut -d . -f 1 /proc/uptime; }

# until_true SECONDS COMMAND...: $patience times as long in an emulator.
until_true() {
    local end=$(($(uptime_s) + $1 * ${patience:-1}))
    shift
    until "$@"; do
        if (($(uptime_s) > end)); then
            echo "# waited in vain for $*: $(tr '\n' ' ' <"$spool/status")"
            return 1
        fi
        sleep 0.5
    done
}
at_least() { (($(number "$1") >= $2)); }
records() { [[ $(value state) == recording ]]; }
running() { [[ $(systemctl is-system-running) =~ ^(running|degraded)$ ]]; }
has_restarted() { (($(shown NRestarts) > $1)) && active; }
is_another() { [[ -n $(recorder) && $(recorder) != "$1" ]]; }
is_whole() { at_least partial 1 && at_least added 1 && [[ $(number failed) == 0 ]]; }
recovered() { records && at_least added "$1"; }
active() { systemctl is-active -q "$unit"; }
# Of an empty trace no table can be made.
record_something() {
    tests/long/systemd-spin.sh "$rounds"
    sleep 2
}
recorder() { PITRACE_SOCKET=$spool/recorder "$stage/bin/swtrace" info 2>/dev/null | sed -nE 's/^ *Recorder pid[ :]*([0-9]+)$/\1/p'; }

settings() { # settings LINE...: those of a short trace, and these
    mkdir -p /etc/pitrace
    printf '%s\n' seconds=8 cpu_percent=1000 "$@" >/etc/pitrace/fleet.conf
}

drop_in() { # drop_in NAME LINE...
    mkdir -p "/etc/systemd/system/$unit.service.d"
    printf '%s\n' '[Service]' "${@:2}" >"/etc/systemd/system/$unit.service.d/$1.conf"
    systemctl daemon-reload
}

install() {
    local program
    for program in "$stage"/bin/*; do ln -sf "$program" /usr/bin/; done
    cp debian/pitrace.pitrace-fleet.service "/usr/lib/systemd/system/$unit.service"
    # Nobody waits for a minute here. The name is the first, so that a test's own quota has effect.
    drop_in 0-test CPUQuota= RestartSec=1
}

# run.fleet is killed, and the recorder with it: systemd starts it again, which adds what was written.
killed_and_started_again() {
    local restarts before
    settings seconds=3000
    systemctl restart "$unit" && until_true 240 records && record_something || return
    settings
    restarts=$(shown NRestarts) before=$(shown MainPID)
    kill -KILL "$before"
    until_true 120 has_restarted "$restarts" && until_true 240 at_least partial 1
}

# Only the recorder is killed: another one records soon, not after the time of a whole trace.
recorder_killed() {
    local before
    settings seconds=3000
    systemctl restart "$unit" && until_true 240 records || return
    record_something
    before=$(recorder)
    kill -KILL "$before"
    until_true 240 is_another "$before" && until_true 240 at_least partial 1
}
