// SPDX-License-Identifier: MIT
// The monitors that a thread holds, in the order in which it has entered them; one that it entered twice is there twice.
package java.lang;

import java.util.Arrays;
import jdk.internal.vm.annotation.ForceInline;

/** Has no reference to an object of the program that would keep it alive. */
final class PitraceHolds {
    static final int NO_METHOD = -1;
    static final int CACHE_MASK = 15;
    private static final int DEPTH_AT_FIRST = 8;

    // Kinds of entries.
    private static final byte RECURSIVE = 0;
    private static final byte COUNTED = 1;
    private static final byte TIMED = 2;

    final PitraceMonitor[] cache = new PitraceMonitor[CACHE_MASK + 1]; // the last ones, by their places in the code
    int ignored; // more than 0: the thread works for the agent
    int epoch;
    private int depth;
    private PitraceMonitor[] monitors = new PitraceMonitor[DEPTH_AT_FIRST];
    private int[] methods = new int[DEPTH_AT_FIRST]; // synchronized ones
    private byte[] kinds = new byte[DEPTH_AT_FIRST];
    private long[] since = new long[DEPTH_AT_FIRST];
    private long[] gcBefore = new long[DEPTH_AT_FIRST];

    void restart(int newEpoch) {
        depth = 0;
        epoch = newEpoch;
    }

    /** The entry of this object; or null. */
    PitraceMonitor find(Object object) {
        for (int i = depth - 1; i >= 0; i--) {
            if (monitors[i].get() == object) {
                return monitors[i];
            }
        }
        return null;
    }

    @ForceInline
    void enter(PitraceMonitor monitor, int method) {
        if (depth == monitors.length) {
            grow();
        }
        monitor.renew();
        int i = depth;
        boolean recursive = holds(monitor);
        monitors[i] = monitor;
        methods[i] = method;
        depth = i + 1;
        if (recursive) {
            monitor.recursions++;
            kinds[i] = RECURSIVE;
            return;
        }
        monitor.gets++;
        if (PitraceLocks.mode == PitraceLocks.TIMED) {
            kinds[i] = TIMED;
            begin(i);
        } else {
            kinds[i] = COUNTED;
        }
    }

    private boolean holds(PitraceMonitor monitor) {
        for (int i = depth - 1; i >= 0; i--) {
            if (monitors[i] == monitor) {
                return true;
            }
        }
        return false;
    }

    private void grow() {
        int size = depth * 2;
        PitraceMonitor[] more = Arrays.copyOf(monitors, size);
        int[] moreMethods = Arrays.copyOf(methods, size);
        byte[] moreKinds = Arrays.copyOf(kinds, size);
        long[] moreSince = Arrays.copyOf(since, size);
        gcBefore = Arrays.copyOf(gcBefore, size);
        since = moreSince;
        kinds = moreKinds;
        methods = moreMethods;
        monitors = more;
    }

    /** The last entry of this object ends. */
    @ForceInline
    void leave(Object object) {
        int i = depth - 1;
        while (i >= 0 && monitors[i].get() != object) {
            i--;
        }
        if (i >= 0) {
            end(i);
            depth--;
            for (; i < depth; i++) {
                move(i);
            }
        }
    }

    /** The last entry of this method ends. Those after it are of calls that have ended. */
    @ForceInline
    void leaveMethod(int method) {
        int i = depth - 1;
        while (i >= 0 && methods[i] != method) {
            i--;
        }
        if (i >= 0) {
            end(i);
            depth = i;
        }
    }

    private void move(int to) {
        monitors[to] = monitors[to + 1];
        methods[to] = methods[to + 1];
        kinds[to] = kinds[to + 1];
        since[to] = since[to + 1];
        gcBefore[to] = gcBefore[to + 1];
    }

    private void end(int i) {
        PitraceMonitor monitor = monitors[i];
        if (kinds[i] == RECURSIVE) {
            return;
        }
        if (kinds[i] == TIMED) {
            addHold(i);
        }
        if (!monitor.listed) {
            PitraceLocks.addToClass(monitor);
        }
    }

    // The clock and the time of garbage collection, both from before or both from after a collection.
    @ForceInline
    private void begin(int i) {
        long gc;
        long now;
        do {
            gc = PitraceLocks.gcTime();
            now = System.nanoTime();
        } while (gc != PitraceLocks.gcTime());
        since[i] = now;
        gcBefore[i] = gc;
    }

    @ForceInline
    private void addHold(int i) {
        long gc;
        long now;
        do {
            gc = PitraceLocks.gcTime();
            now = System.nanoTime();
        } while (gc != PitraceLocks.gcTime());
        PitraceMonitor monitor = monitors[i];
        monitor.renew();
        boolean before = since[i] - PitraceLocks.intervalStart < 0; // the last reset
        monitor.held += now - (before ? PitraceLocks.intervalStart : since[i])
                - (gc - (before ? PitraceLocks.intervalGc : gcBefore[i]));
    }

    /** The thread will wait for this object: its hold ends. Returns what resume() needs; null: there is no hold with times. */
    PitraceMonitor suspend(Object object) {
        PitraceMonitor monitor = find(object);
        int i = monitor == null ? -1 : outermost(monitor);
        if (i < 0) {
            return null;
        }
        addHold(i);
        return monitor;
    }

    /** The thread holds the monitor again. */
    void resume(PitraceMonitor monitor) {
        int i = outermost(monitor);
        if (i >= 0) {
            begin(i);
        }
    }

    private int outermost(PitraceMonitor monitor) {
        for (int i = 0; i < depth; i++) {
            if (monitors[i] == monitor && kinds[i] == TIMED) {
                return i;
            }
        }
        return -1;
    }
}
