# SPDX-License-Identifier: MIT
# Converts a name from HotSpot's probes to the form that JProf writes.
function logged(text) {
  # Hidden classes have a plus sign in the JVM and a point in JVMTI.
  gsub(/\+0x/, ".0x", text)
  # JVMTI does not report which linker method of MethodHandle it is.
  sub(/^java\/lang\/invoke\/MethodHandle\.(invokeBasic|linkTo[A-Za-z]+)\(.*/, "java/lang/invoke/MethodHandle.<linker>", text)
  return text
}
