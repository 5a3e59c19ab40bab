// SPDX-License-Identifier: MIT
package jperf;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * PTT, Per-Thread Time: cycles, instructions and other counts of each thread, without interrupts and
 * other threads where the pitrace module counts.
 *
 * <pre>{@code
 * try (Ptt ptt = Ptt.begin("CYCLES", "page-faults"); Ptt.Counter counter = ptt.thread()) {
 *     long[] sum = new long[2];
 *     try (Ptt.Region region = counter.region(sum)) {
 *         work();
 *     }
 *     System.out.println(sum[0] + " " + ptt.units().get(0));
 * }
 * }</pre>
 *
 * <p>One exists at a time in a process. All methods throw {@link PerfException}.
 */
public final class Ptt implements AutoCloseable {
    private static final int MODULE = 1;

    private final List<String> names;
    private final List<String> units;
    private final String cannotSeparate;
    private final boolean byModule;
    private boolean closed;

    private Ptt(int count) {
        String[] texts = Native.pttNames();
        names = List.of(Arrays.copyOf(texts, count));
        units = List.of(Arrays.copyOfRange(texts, count, 2 * count));
        cannotSeparate = texts[2 * count];
        byModule = Native.pttSource() == MODULE;
    }

    /**
     * Begins PTT, or joins the one that runs if it has these metrics first, in this order.
     *
     * @param metrics at most 8: CYCLES, INSTR, page-faults, context-switches, cpu-migrations, or any name
     *     that {@code swtrace event list} prints
     * @return PTT of this process
     */
    public static Ptt begin(String... metrics) {
        return begin(Privilege.BOTH, metrics);
    }

    /**
     * The same, counting events in user or kernel code only; cycles are always of both.
     *
     * @param where where events are counted
     * @param metrics as {@link #begin(String...)}
     * @return PTT of this process
     */
    public static Ptt begin(Privilege where, String... metrics) {
        for (String metric : metrics) {
            Objects.requireNonNull(metric);
        }
        Native.pttInit(metrics, where.number());
        try {
            return new Ptt(metrics.length);
        } catch (PerfException unusable) {
            Native.pttTerminate();
            throw unusable;
        }
    }

    /**
     * The metrics, in the order of all values.
     *
     * @return their names
     */
    public List<String> metrics() {
        return names;
    }

    /**
     * The units of the metrics.
     *
     * @return cycles, events or nanoseconds of each
     */
    public List<String> units() {
        return units;
    }

    /**
     * What is charged to a thread and should not be.
     *
     * @return a text; empty with the module
     */
    public String cannotSeparate() {
        return cannotSeparate;
    }

    /**
     * Whether the module counts, at each context switch and interrupt.
     *
     * @return false: perf events of each thread and its clock
     */
    public boolean byModule() {
        return byModule;
    }

    /**
     * Begins to count the calling thread.
     *
     * @return to be used and closed by this thread alone
     */
    public Counter thread() {
        VirtualThreads.refuse("PTT counts threads of the kernel");
        Native.pttInitThread();
        return new Counter(names.size());
    }

    /** Ends PTT of this process. A second call does nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Native.pttTerminate();
        }
    }

    /** The counts of one thread, which alone may call the methods. */
    public static final class Counter implements AutoCloseable {
        private final Thread owner = Thread.currentThread();
        private final int count;
        private long failedRegions;
        private boolean closed;

        private Counter(int count) {
            this.count = count;
        }

        /**
         * Reads what the thread has had of each metric so far.
         *
         * @param values is filled, in the order of {@link Ptt#metrics()}
         */
        public void read(long[] values) {
            check();
            if (values.length < count) {
                throw new PerfException(PerfException.INVALID_PARAMETER, "The array has fewer elements than PTT has metrics: " + count + ".");
            }
            int code = Native.pttRead(values);
            if (code != 0) {
                throw new PerfException(code, "PTT has ended, or this thread is not counted.");
            }
        }

        /**
         * Adds what the thread has from here until the region is closed to the sums. A program that PTT leaves, because another process
         * has ended it, goes on: regions then add nothing, and are counted.
         *
         * @param sums of each metric; one array for each thread
         * @return to be closed by this thread; regions may nest
         */
        public Region region(long[] sums) {
            return new Region(this, sums);
        }

        /**
         * Regions that have added nothing, because PTT had ended.
         *
         * @return their number
         */
        public long failedRegions() {
            return failedRegions;
        }

        private void check() {
            if (Thread.currentThread() != owner) {
                throw new PerfException(PerfException.INCORRECT_STATE, "A counter is of the thread that has made it: call Ptt.thread() in each thread.");
            }
        }

        /** Ends counting the thread. A second call does nothing. */
        @Override
        public void close() {
            if (!closed) {
                check();
                closed = true;
                Native.pttUninitThread();
            }
        }
    }

    /** A part of a program that is counted. The cost of one reading is included. */
    public static final class Region implements AutoCloseable {
        private final Counter counter;
        private final long[] sums;
        private final long[] before;
        private final long[] after;
        private final boolean begun;
        private boolean closed;

        private Region(Counter counter, long[] sums) {
            this.counter = counter;
            this.sums = sums;
            this.before = new long[counter.count];
            this.after = new long[counter.count];
            if (sums.length < counter.count) {
                throw new PerfException(PerfException.INVALID_PARAMETER,
                        "The array has fewer elements than PTT has metrics: " + counter.count + ".");
            }
            counter.check();
            begun = Native.pttRead(before) == 0;
        }

        /** Adds to the sums. A second call does nothing. */
        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            if (!begun || Native.pttRead(after) != 0) {
                counter.failedRegions++;
                return;
            }
            for (int i = 0; i < before.length; i++) {
                sums[i] += after[i] - before[i];
            }
        }
    }
}
