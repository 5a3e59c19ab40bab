// SPDX-License-Identifier: MIT
package jperf;

/** Where events are counted. */
public enum Privilege {
    /** In kernel code. */
    KERNEL,
    /** In user code. */
    USER,
    /** In both. */
    BOTH;

    // PI_PRIV_* of perfutil/events.h.
    int number() {
        return ordinal() + 1;
    }
}
