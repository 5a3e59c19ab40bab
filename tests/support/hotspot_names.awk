# SPDX-License-Identifier: MIT
# A name that HotSpot's probes tell as JProf writes it.
function logged(text) {
  # Hidden classes have a plus sign inside the virtual machine, a point outside.
  gsub(/\+0x/, ".0x", text)
  # The JVM does not tell its agents which linker of method handles it speaks of.
  sub(/^java\/lang\/invoke\/MethodHandle\.(invokeBasic|linkTo[A-Za-z]+)\(.*/, "java/lang/invoke/MethodHandle.<linker>", text)
  return text
}
