#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Probes of JProf in programs that are hard for them: the JVM's own events count the same calls, the verifier and -Xcheck:jni accept
# all classes, and class files that ASM cannot read stay as they are.

setup() {
  agent=$BUILD_DIR/lib/libjprof.so
  classes=$BUILD_DIR/tests/java
  if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
  ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  cd "$BATS_TEST_TMPDIR" || return
  unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
}

# programs PREFIX AGENT-OPTIONS JVM-OPTION...: runs Programs, whose output must be the expected one.
programs() {
  local prefix=$1 options=$2
  shift 2
  java "$@" -agentpath:"$agent=calltree,start,nopidx,logprefix=$prefix$options" -cp "$classes" Programs "$classes/libcalls_back.so" \
    >"$prefix.out" 2>"$prefix.err" || { cat "$prefix.err"; return 1; }
  grep -qx 'natives 1328' "$prefix.out"
  [ "$(wc -l <"$prefix.out")" -eq 7 ]
}

# sums LOG: the program's methods below Programs.measured(), with the sum of their calls. Methods of the JDK have more calls with
# probes: the JVM looks for a native method's code under the names with the prefix, too.
sums() {
  awk '
    $1 !~ /^[0-9]+$/ || NF < 4 { next }
    { name = $NF; sub(/^[A-Za-z]:/, "", name) }
    inside && $1 <= level { exit }
    !inside && index(name, "Programs.measured(") == 1 { inside = 1; level = $1 + 0 }
    inside { calls[name] += $2 }
    END { for (name in calls) if (calls[name] > 0) print name, calls[name] }' "$1" | grep -E '^(Programs|Old|Large|Constants)' | LC_ALL=C sort
}

@test "all counts equal those of the JVM's own events, and what is not counted is listed" {
  programs probes '' -Xint
  programs events ,events=jvmti -Xint
  sums probes-rt.1 >probes
  sums events-rt.1 >events
  [ "$(wc -l <probes)" -gt 25 ]
  # The wrapper of a native method has its name, and the renamed one has no probes.
  [ "$(comm -23 probes events | wc -l)" -eq 0 ] || { comm -23 probes events; return 1; }
  comm -13 probes events | sed 's/ [0-9]*$//' | grep -vE '[$]Lambda|LambdaForm|^Programs[$]Hidden' >missing
  cat missing
  while read -r method; do
    grep -qF "$method: " probes-unrecorded.1 || grep -qF "${method%%.*}: " probes-unrecorded.1 || { echo "not listed: $method"; return 1; }
  done <missing
  grep -qF 'Constants.last(I)I' missing
  grep -qF 'Large.full(I)I' missing
}

@test "-Xcheck:jni and the verifier for all classes accept the probes; nothing is on stderr" {
  programs checked '' -Xcheck:jni -XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote
  # JNI warnings name no function of JProf.
  grep -E 'JProf|PitraceProbe|[$]pitrace[$]' checked.err && return 1
  grep -E 'refuses|failed' checked-unrecorded.1 && return 1
  [ "$(awk '$NF ~ /:Programs\.work\(/ && $2 == 1' checked-rt.1 | wc -l)" -eq 300 ]
}

@test "a class file that is too new for ASM stays as it is, and is listed with its version" {
  asm=$(sed -n 's/^ASM_JAR:[^=]*=//p' "$BUILD_DIR/CMakeCache.txt")
  mkdir -p source/pitrace classes
  # The agent's list of methods, for a JVM without the agent.
  cat >source/pitrace/Methods.java <<'END'
package pitrace;

final class Methods {
    static final int STATIC = 1;
    static final int NATIVE = 2;
    static final int KIND_BITS = 2;

    static int add(String method) {
        return 1;
    }

    static void report(String what, String why) {
        System.out.println(what + ": " + why);
    }

    public static void main(String[] args) throws java.io.IOException {
        byte[] code = java.nio.file.Files.readAllBytes(java.nio.file.Path.of(args[0]));
        System.out.println(Transformer.transform("Leaves", code, true, false) != null);
        code[7] = 99; // the major version
        System.out.println(Transformer.transform("Leaves", code, true, false) != null);
        System.out.println(Transformer.transform("Damaged", new byte[] {1, 2, 3}, true, false) != null);
    }
}
END
  javac -cp "$BUILD_DIR/jprof/java/classes" -d classes source/pitrace/Methods.java
  java -cp "classes:$BUILD_DIR/jprof/java/classes:$asm" pitrace.Methods "$classes/Leaves.class" >out
  cat out
  [ "$(grep -cx true out)" -eq 1 ]
  [ "$(grep -cx false out)" -eq 2 ]
  grep -qE "^Leaves: this JProf's ASM cannot read it: .*99" out
  grep -qE '^Damaged: ' out
}
