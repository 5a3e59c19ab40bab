// SPDX-License-Identifier: MIT
package jperf;

import java.util.ArrayList;
import java.util.List;

/**
 * AboveIdle: how the time of each CPU divides into idle task, other tasks and interrupts. It needs no
 * trace. One exists at a time in a process. All methods throw {@link PerfException}.
 */
public final class AboveIdle implements AutoCloseable {
    private static final int HOOKS = 1;
    private static final int VALUES = 6;

    private boolean closed;

    private AboveIdle() {}

    /**
     * Begins to measure from 0.
     *
     * @return AboveIdle of this process
     */
    public static AboveIdle begin() {
        Native.aiInit();
        return new AboveIdle();
    }

    /**
     * Whether the module measures, exactly.
     *
     * @return false: /proc/stat, with idle time in steps of 10 ms
     */
    public boolean isExact() {
        return Native.aiSource() == HOOKS;
    }

    /**
     * The times since {@link #begin()}.
     *
     * @return one for each CPU that is online
     */
    public List<Cpu> read() {
        long[] values = Native.aiRead();
        List<Cpu> cpus = new ArrayList<>();
        for (int i = 0; i < values.length / VALUES; i++) {
            if (values[i * VALUES] != 0) {
                cpus.add(new Cpu(i, values, i * VALUES));
            }
        }
        return cpus;
    }

    /** Ends measuring. A second call does nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Native.aiTerminate();
        }
    }

    /** The times of one CPU, in nanoseconds: all = idle + busy + interrupts. */
    public static final class Cpu {
        private final int number;
        private final long[] values = new long[VALUES];

        private Cpu(int number, long[] all, int from) {
            this.number = number;
            System.arraycopy(all, from, values, 0, VALUES);
        }

        /**
         * The CPU.
         *
         * @return its number
         */
        public int number() {
            return number;
        }

        /**
         * All the time.
         *
         * @return nanoseconds
         */
        public long all() {
            return values[0];
        }

        /**
         * The idle task, outside of interrupts.
         *
         * @return nanoseconds
         */
        public long idle() {
            return values[1];
        }

        /**
         * Any other task, outside of interrupts.
         *
         * @return nanoseconds
         */
        public long busy() {
            return values[2];
        }

        /**
         * Interrupts, and softirqs at their ends.
         *
         * @return nanoseconds
         */
        public long interrupts() {
            return values[3];
        }

        /**
         * Context switches; counted by the module only.
         *
         * @return 0 from /proc/stat
         */
        public long dispatches() {
            return values[4];
        }

        /**
         * Interrupts; counted by the module only.
         *
         * @return 0 from /proc/stat
         */
        public long interruptCount() {
            return values[5];
        }
    }
}
