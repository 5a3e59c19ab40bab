#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JPerf.jar with the module, in the lab: ITrace of the calling thread, PTT, and hooks. tests/cli/jperf.bats has the rest.

bats_require_minimum_version 1.5.0

setup_file() { export PATH=${STAGE:?}/bin:$BUILD_DIR/tests:$PATH; }

setup() {
  [ "${PROOF_SOURCE:?}" = driver ] || skip "needs the module"
  agent=$(compgen -G "$STAGE/lib*/libjprof.so" || compgen -G "$STAGE/lib/*/libjprof.so") || skip "needs a JDK"
  path=$BUILD_DIR/lib/JPerf.jar:$BUILD_DIR/tests/java
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
  swtrace free >/dev/null 2>&1 || true
}

@test "ITrace regions of a Java thread contain each call of a compiled method" {
  swtrace init --source driver -s 16
  swtrace it_install -i -user
  swtrace on
  java -Xbatch -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,JPerfUse.leaf "-agentpath:$agent=itrace" -cp "$path" JPerfUse itrace 1000 >printed
  swtrace off
  swtrace get trace.nrm2
  swtrace free
  # A gap for the kernel code that ends each region.
  grep -qx 'calls 202000 branches true gaps 2' printed || { cat printed && false; }
  grep -qE '^off -201 ' printed
  post -r trace.nrm2 -arc -o . >/dev/null
  # Two regions of 1,000 calls. Nothing of the virtual machine's other threads is in the trace, and little of this one outside of
  # the calls.
  awk '/^#/ { next }
    $7 ~ /^JPerfUse\.leaf\(/ && $9 == "RETURN" { calls++ }
    { threads[$8]; lines++ }
    END { printf "%d calls, %d threads, %d lines\n", calls, length(threads), lines
      exit !(calls == 2000 && length(threads) == 1 && lines < 2 * 2000 + 4000) }' arc || { head -n 40 arc && false; }
}

# bats test_tags=lab:long
@test "PTT of the module, and a trace with hooks, from Java" {
  java -cp "$path" JPerfUse ptt CYCLES context-switches >printed
  grep -q '^names \[CYCLES, context-switches\] units \[cycles, events\] module true' printed
  awk -F '[][ ,]+' '$1 == "outer" { n++; exit !($3 >= 20 && $6 >= 20 && $5 <= $2) } END { exit n != 1 }' printed || { cat printed && false; }
  java -cp "$path" JPerfUse trace driver trace.nrm2 >printed
  grep -qx 'counts true lost 0' printed
  post -show -r trace.nrm2 -o . >/dev/null
  [ "$(awk '$1 == "****" && $4 == 70' post.show | wc -l)" -eq 202 ]
}
