// SPDX-License-Identifier: MIT
// The methods that probed methods call; the agent has their code. It is in java.lang, because every class loader and every
// module sees that package.
package java.lang;

/** The probes. An id is that of {@code pitrace.Methods}. */
public final class PitraceProbe {
    private PitraceProbe() {}

    /** The calling method begins. */
    public static native void enter(int id);

    /** The calling method returns. */
    public static native void exit(int id);

    /** The calling method ends by an exception. */
    public static native void exitByException(int id);
}
