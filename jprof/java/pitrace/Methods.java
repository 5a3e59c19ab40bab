// SPDX-License-Identifier: MIT
// The agent's list of methods: those that have probes, and what has none.
package pitrace;

/** The agent has the code of these methods. */
final class Methods {
    // Bits of an id; the other bits are the method's number.
    static final int STATIC = 1;
    static final int NATIVE = 2;
    static final int KIND_BITS = 2;

    private Methods() {}

    /** Adds a method, as {@code CLASS.METHOD(TYPES)RESULT}, and returns its number. */
    static native int add(String method);

    /** Reports a class or a method whose calls are not all counted, and why. */
    static native void report(String what, String why);
}
