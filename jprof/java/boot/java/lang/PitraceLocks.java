// SPDX-License-Identifier: MIT
// What methods with probes of the lock monitor call: counts the gets and the hold times of each monitor. It is in java.lang,
// because every class loader and every module sees that package.
package java.lang;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * The counters of a monitor are plain fields, which only the thread changes that holds the monitor: that makes them exact. A probe
 * before an enter finds the object's {@link PitraceMonitor}, because asking for the hash of an object that is locked is slow and
 * can inflate its monitor; the others find it among the monitors that the thread holds.
 *
 * <p>Probes throw nothing but what any call can: an overflow of the stack. Without memory a get is not counted.
 */
public final class PitraceLocks {
    private static final int OFF = 0;
    static final int TIMED = 2; // 1: counts without times

    private static final int BUCKETS = 1 << 16;
    private static final int LISTED_BYTES = 96; // of the heap, for each of those that are listed
    // Monitors of objects that are alive. They need a thirtieth of the heap at most.
    private static final int LISTED_MAX =
            (int) Math.min(1 << 16, Runtime.getRuntime().maxMemory() / 30 / LISTED_BYTES);
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final ThreadLocal<PitraceHolds> HOLDS = new ThreadLocal<>();
    private static final PitraceMonitor[] LISTED = new PitraceMonitor[BUCKETS]; // first ones of chains, by hash
    private static final Map<String, PitraceMonitor> CLASSES = new HashMap<>(); // sums of monitors that are not listed
    // LISTED itself guards changes of what is listed, and what follows.
    private static int listed;
    private static int addedSincePruned;
    private static long lost; // gets that were not counted
    private static long intervalEnd; // 0: counting goes on

    private static long gcTime; // address of the time that the JVM was stopped to collect garbage, in nanoseconds
    static int mode = OFF;
    static int epoch; // what threads held in another one is forgotten
    static int generation; // counts of another one are 0
    static long intervalStart;
    static long intervalGc;

    private PitraceLocks() {}

    // ---- probes ----

    /** Before an object's monitor is entered. Returns what {@link #entered} needs. place: any number of this place in the code. */
    @ForceInline
    public static PitraceMonitor before(Object object, int place) {
        return mode == OFF || object == null ? null : find(object, place);
    }

    /** The monitor was entered. */
    @ForceInline
    public static void entered(PitraceMonitor monitor) {
        if (monitor != null) {
            push(monitor, PitraceHolds.NO_METHOD);
        }
    }

    /** A synchronized method has entered its monitor. */
    @ForceInline
    public static void enteredMethod(Object object, int method) {
        if (mode != OFF) {
            PitraceMonitor monitor = find(object, method);
            if (monitor != null) {
                push(monitor, method);
            }
        }
    }

    /** The object's monitor is left next. */
    @ForceInline
    public static void leaving(Object object) {
        if (mode != OFF) {
            PitraceHolds holds = existing();
            if (holds != null && holds.epoch == epoch) {
                holds.leave(object);
            }
        }
    }

    /** The synchronized method returns or ends by an exception. */
    @ForceInline
    public static void leavingMethod(int method) {
        if (mode != OFF) {
            PitraceHolds holds = existing();
            if (holds != null && holds.epoch == epoch) {
                holds.leaveMethod(method);
            }
        }
    }

    // In place of the methods of Object. The monitor is not held while they wait. Entering it again is no get.

    @Hidden
    public static void await(Object object) throws InterruptedException {
        PitraceMonitor held = suspend(object);
        try {
            object.wait();
        } finally {
            resume(held);
        }
    }

    @Hidden
    public static void await(Object object, long milliseconds) throws InterruptedException {
        PitraceMonitor held = suspend(object);
        try {
            object.wait(milliseconds);
        } finally {
            resume(held);
        }
    }

    @Hidden
    public static void await(Object object, long milliseconds, int nanoseconds) throws InterruptedException {
        PitraceMonitor held = suspend(object);
        try {
            object.wait(milliseconds, nanoseconds);
        } finally {
            resume(held);
        }
    }

    // ---- monitors ----

    private static PitraceMonitor find(Object object, int place) {
        PitraceHolds holds = existing();
        if (holds != null) {
            PitraceMonitor known = holds.cache[place & PitraceHolds.CACHE_MASK];
            if (known != null && known.get() == object) {
                return holds.ignored == 0 ? known : null;
            }
        }
        return findUncached(object, place);
    }

    private static PitraceMonitor findUncached(Object object, int place) {
        try {
            PitraceHolds holds = holds();
            if (holds.ignored != 0) {
                return null;
            }
            PitraceMonitor monitor = holds.epoch == epoch ? holds.find(object) : null;
            if (monitor == null) {
                int hash = System.identityHashCode(object);
                monitor = search(object, hash);
                if (monitor == null) {
                    monitor = add(object, hash);
                }
            }
            if (monitor.listed) {
                holds.cache[place & PitraceHolds.CACHE_MASK] = monitor;
            }
            return monitor;
        } catch (OutOfMemoryError e) {
            lose();
            return null;
        }
    }

    // Of the calling thread; or null. ThreadLocal.get() may need memory.
    @ForceInline
    private static PitraceHolds existing() {
        try {
            return HOLDS.get();
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    private static PitraceHolds holds() {
        PitraceHolds holds = HOLDS.get();
        if (holds == null) {
            holds = new PitraceHolds();
            HOLDS.set(holds);
        }
        return holds;
    }

    private static PitraceMonitor search(Object object, int hash) {
        for (PitraceMonitor m = LISTED[hash & BUCKETS - 1]; m != null; m = m.next) {
            if (m.hash == hash && m.get() == object) {
                return m;
            }
        }
        return null;
    }

    private static PitraceMonitor add(Object object, int hash) {
        String name = nameOf(object);
        synchronized (LISTED) {
            PitraceMonitor monitor = search(object, hash);
            if (monitor != null) {
                return monitor;
            }
            if (listed >= LISTED_MAX && addedSincePruned >= LISTED_MAX / 4) {
                prune();
            }
            addedSincePruned++;
            if (listed >= LISTED_MAX) {
                return new PitraceMonitor(object, name, hash, false);
            }
            monitor = new PitraceMonitor(object, name, hash, true);
            monitor.next = LISTED[hash & BUCKETS - 1];
            LISTED[hash & BUCKETS - 1] = monitor;
            listed++;
            return monitor;
        }
    }

    private static String nameOf(Object object) {
        return object instanceof Class ? ((Class<?>) object).getName() + ".class" : object.getClass().getName();
    }

    private static PitraceMonitor sumOf(String name) {
        PitraceMonitor sum = CLASSES.get(name);
        if (sum == null) {
            sum = new PitraceMonitor(null, name, 0, true);
            CLASSES.put(name, sum);
        }
        return sum;
    }

    // Adds the counts of objects that were collected to those of their classes. A thread that reads a chain meanwhile may miss a
    // monitor; it then waits in add() and searches again.
    private static void prune() {
        addedSincePruned = 0;
        for (int i = 0; i < BUCKETS; i++) {
            PitraceMonitor last = null;
            for (PitraceMonitor m = LISTED[i]; m != null; m = m.next) {
                if (m.get() != null) {
                    last = m;
                    continue;
                }
                sumOf(m.name).addCounts(m);
                listed--;
                if (last == null) {
                    LISTED[i] = m.next;
                } else {
                    last.next = m.next;
                }
            }
        }
    }

    /** The last hold of a monitor that is not listed has ended. */
    static void addToClass(PitraceMonitor monitor) {
        try {
            synchronized (LISTED) {
                sumOf(monitor.name).addCounts(monitor);
            }
        } catch (OutOfMemoryError e) {
            lose();
        }
    }

    static void lose() {
        synchronized (LISTED) {
            lost++;
        }
    }

    // ---- holds ----

    private static void push(PitraceMonitor monitor, int method) {
        try {
            PitraceHolds holds = HOLDS.get();
            if (holds.epoch != epoch) {
                holds.restart(epoch);
            }
            holds.enter(monitor, method);
        } catch (OutOfMemoryError e) {
            lose();
        }
    }

    private static PitraceMonitor suspend(Object object) {
        PitraceHolds holds = mode == OFF || object == null ? null : existing();
        return holds != null && holds.epoch == epoch ? holds.suspend(object) : null;
    }

    private static void resume(PitraceMonitor held) {
        PitraceHolds holds = mode == OFF || held == null ? null : existing();
        if (holds != null && holds.epoch == epoch) {
            holds.resume(held);
        }
    }

    static long gcTime() {
        return UNSAFE.getLongVolatile(null, gcTime);
    }

    // ---- for the agent ----

    /** Before the first probe. */
    static void prepare(long addressOfGcTime) {
        gcTime = addressOfGcTime;
        holds(); // loads what a probe needs
    }

    /** The calling thread begins or ends to work for the agent. Calls nest. */
    static void ignore(boolean begins) {
        holds().ignored += begins ? 1 : -1;
    }

    /** Begins to count, from 0. */
    static void start(int newMode) {
        synchronized (LISTED) {
            epoch++;
            mode = newMode;
            restart();
        }
    }

    static void stop() {
        synchronized (LISTED) {
            mode = OFF;
            intervalEnd = System.nanoTime();
        }
    }

    static void reset() {
        synchronized (LISTED) {
            restart();
        }
    }

    private static void restart() {
        intervalGc = gcTime();
        intervalStart = System.nanoTime();
        intervalEnd = mode == OFF ? intervalStart : 0;
        generation++;
        lost = 0;
        CLASSES.clear();
    }

    /**
     * What was counted: the names, and an array with the length of the interval, the time of garbage collection in it and the gets
     * that were not counted, then for each name the hash, 1 if it is that of several monitors, NONREC, REC and the hold time.
     */
    static Object[] counts() {
        List<PitraceMonitor> chosen = new ArrayList<>();
        synchronized (LISTED) {
            prune();
            for (PitraceMonitor first : LISTED) {
                for (PitraceMonitor m = first; m != null; m = m.next) {
                    if (m.generation == generation && m.gets + m.recursions > 0) {
                        chosen.add(m);
                    }
                }
            }
            for (PitraceMonitor sum : CLASSES.values()) {
                if (sum.monitors > 0) {
                    chosen.add(sum);
                }
            }
            String[] names = new String[chosen.size()];
            long[] values = new long[3 + 5 * names.length];
            int i = 0;
            values[i++] = (intervalEnd == 0 ? System.nanoTime() : intervalEnd) - intervalStart;
            values[i++] = gcTime() - intervalGc;
            values[i++] = lost;
            for (int row = 0; row < names.length; row++) {
                PitraceMonitor m = chosen.get(row);
                names[row] = m.name;
                values[i++] = m.monitors == 0 ? m.hash : m.firstHash;
                values[i++] = m.monitors > 1 ? 1 : 0;
                values[i++] = m.gets;
                values[i++] = m.recursions;
                values[i++] = m.held;
            }
            return new Object[] {names, values};
        }
    }
}
