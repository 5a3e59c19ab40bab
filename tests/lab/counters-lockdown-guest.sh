#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of counters.bats in a locked-down kernel: registers can be read but not written. Prints "ok NAME".
# Usage: counters-lockdown-guest.sh BIN
set -u

export PATH=$1:$PATH
mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
grep -q '\[integrity\]' /sys/kernel/security/lockdown && echo "ok locked-down"
modprobe msr
[[ $(msr -q -c 0 EFER:LMA) == 0x1 ]] && echo "ok registers-are-read"
said=$(msr -c 0 TSC_AUX=0 2>&1)
[[ $? == 1 && $said == *"locked down (integrity)"*"Secure Boot"* ]] && echo "ok writing-is-refused"
echo "# $said"
