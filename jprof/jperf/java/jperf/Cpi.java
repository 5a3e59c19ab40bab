// SPDX-License-Identifier: MIT
package jperf;

import java.util.ArrayList;
import java.util.List;

/**
 * Cycles per instruction of the system, each CPU and one thread. It needs a processor whose counters the
 * user may use. All methods throw {@link PerfException}.
 */
public final class Cpi implements AutoCloseable {
    private static final int SCALED = 2;
    private static final int THREAD = 4;
    private static final int VALUES = 6;

    private long handle;

    private Cpi(long handle) {
        this.handle = handle;
    }

    /**
     * Begins to measure the system, each CPU, and the calling thread.
     *
     * @param where where cycles and instructions are counted
     * @return the measurement
     */
    public static Cpi begin(Privilege where) {
        VirtualThreads.refuse("A thread of the kernel is measured");
        Cpi cpi = new Cpi(Native.cpiInit(SCALED | THREAD, where.number()));
        try {
            Native.cpiStart(cpi.handle);
            return cpi;
        } catch (PerfException refused) {
            cpi.close();
            throw refused;
        }
    }

    /** Begins again from 0. */
    public synchronized void restart() {
        Native.cpiStart(open());
    }

    /**
     * The sums since the begin.
     *
     * @return the sums
     */
    public synchronized Values read() {
        return new Values(Native.cpiRead(open()));
    }

    /**
     * The same, and writes them into the trace that runs, as records of major 0xc0.
     *
     * @param minor of the records
     * @param detail true: also a record for each CPU
     * @param label a string of the records, at most 256 bytes; may be null
     * @return the sums
     */
    public synchronized Values trace(int minor, boolean detail, String label) {
        return new Values(Native.cpiTrace(open(), minor, detail, label));
    }

    private long open() {
        if (handle == 0) {
            throw new PerfException(PerfException.NOT_INITIALIZED, "This measurement is closed.");
        }
        return handle;
    }

    /** Ends measuring. A second call does nothing. */
    @Override
    public synchronized void close() {
        long ended = handle;
        handle = 0;
        if (ended != 0) {
            Native.cpiTerminate(ended);
        }
    }

    /** Sums since the begin. */
    public static final class Values {
        private final long elapsed;
        private final List<Sums> sums = new ArrayList<>();

        private Values(long[] numbers) {
            elapsed = numbers[0];
            for (int at = 1; at + VALUES <= numbers.length; at += VALUES) {
                sums.add(new Sums(numbers, at));
            }
        }

        /**
         * The time since the begin.
         *
         * @return nanoseconds
         */
        public long elapsed() {
            return elapsed;
        }

        /**
         * The sums over all CPUs.
         *
         * @return the system's
         */
        public Sums system() {
            return sums.get(0);
        }

        /**
         * The thread that has begun the measurement.
         *
         * @return its sums; it has no cycles() and busyCycles()
         */
        public Sums thread() {
            return sums.get(1);
        }

        /**
         * Each CPU.
         *
         * @return in the order of their numbers
         */
        public List<Sums> cpus() {
            return List.copyOf(sums.subList(2, sums.size()));
        }
    }

    /** Sums of the system, a CPU or a thread. */
    public static final class Sums {
        private final long[] values = new long[VALUES];

        private Sums(long[] all, int from) {
            System.arraycopy(all, from, values, 0, VALUES);
        }

        /**
         * The CPU.
         *
         * @return its number; -1: all of them, or a thread
         */
        public int cpu() {
            return (int) values[0];
        }

        /**
         * How long was counted; for the system the sum over its CPUs.
         *
         * @return nanoseconds
         */
        public long counted() {
            return values[1];
        }

        /**
         * Cycles of the time-stamp counter.
         *
         * @return cycles
         */
        public long cycles() {
            return values[2];
        }

        /**
         * Those of them outside of the idle task.
         *
         * @return cycles
         */
        public long busyCycles() {
            return values[3];
        }

        /**
         * Cycles of the processor while it was not halted.
         *
         * @return cycles
         */
        public long activeCycles() {
            return values[4];
        }

        /**
         * Instructions completed.
         *
         * @return their number
         */
        public long instructions() {
            return values[5];
        }

        /**
         * Active cycles for each instruction.
         *
         * @return 0 if no instruction was completed
         */
        public double cpi() {
            return values[5] == 0 ? 0 : (double) values[4] / values[5];
        }
    }
}
