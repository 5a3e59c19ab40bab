// SPDX-License-Identifier: MIT
/**
 * pitrace for Java applications: traces, user hooks, ITrace, PTT, AboveIdle, cycles per instruction, and
 * commands for JProf.
 *
 * <p>The classes call libperfutil, whose headers (perfutil.h) define what is recorded and counted. They
 * need libjperf.so, which is found by {@code java.library.path} or near the jar. Units stand at each
 * method. Failures are {@link jperf.PerfException}s, which say what to do. With Java 24 and later give the
 * option {@code --enable-native-access=ALL-UNNAMED}, or the virtual machine prints a warning.
 */
package jperf;
