// SPDX-License-Identifier: MIT
// What the lock monitor knows of the monitor of an object, or of the monitors of a class.
package java.lang;

import java.lang.ref.WeakReference;

/** The counters are changed only by the thread that holds the monitor. */
public final class PitraceMonitor extends WeakReference<Object> {
    final String name;
    final int hash;
    final boolean listed; // else its counts are added to those of its class when its hold ends
    PitraceMonitor next; // of the same bucket
    int generation;
    long gets; // that are not recursive
    long recursions;
    long held; // nanoseconds
    // Of one that has the sums of a class:
    long monitors; // how many were added; some may be the same
    int firstHash;

    PitraceMonitor(Object object, String name, int hash, boolean listed) {
        super(object);
        this.name = name;
        this.hash = hash;
        this.listed = listed;
        this.generation = PitraceLocks.generation;
    }

    /** Sets the counts to 0 if they are of another generation. */
    void renew() {
        int current = PitraceLocks.generation;
        if (generation != current) {
            gets = 0;
            recursions = 0;
            held = 0;
            generation = current;
        }
    }

    void addCounts(PitraceMonitor other) {
        if (other.generation == PitraceLocks.generation) {
            renew();
            if (monitors++ == 0) {
                firstHash = other.hash;
            }
            gets += other.gets;
            recursions += other.recursions;
            held += other.held;
        }
    }
}
