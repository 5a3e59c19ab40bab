// SPDX-License-Identifier: MIT
// The methods that probed methods call; the agent has their code. It is in java.lang, because every class loader and every
// module sees that package.
package java.lang;

import jdk.internal.vm.annotation.Hidden;

/** The probes. An id is that of {@code pitrace.Methods}. */
public final class PitraceProbe {
    private PitraceProbe() {}

    /**
     * The calling method begins, or throws a StackOverflowError, in whose stack trace this method does not appear.
     */
    @Hidden
    public static native void enter(int id);

    /** The calling method returns. */
    public static native void exit(int id);

    /** The calling method ends by an exception. */
    public static native void exitByException(int id);
}
