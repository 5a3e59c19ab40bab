// SPDX-License-Identifier: MIT
package jperf;

/**
 * ITrace: which instructions threads execute, as the branches that they take. A traced thread runs a
 * hundred times slower or more: warm up the code to be measured, and keep it short.
 *
 * <p>A program traces itself in the trace that {@code run.itrace} or {@code swtrace} has begun, or in its
 * own {@link Trace}; that needs the pitrace module and its permission.
 *
 * <pre>{@code
 * ITrace.enableCurrent(); // once; it also opens the device
 * try (ITrace.Region region = ITrace.region()) {
 *     work();
 * }
 * }</pre>
 *
 * <p>All methods throw {@link PerfException}. Some instructions of this class and of the virtual machine
 * are in the trace, at its begin and end, always the same ones in compiled code.
 */
public final class ITrace {
    /** Records have the number of instructions executed. */
    public static final int COUNT = 0x02;

    /** Single-step, no branch traps. */
    public static final int STEP = 0x04;

    /** Record where interrupts occurred. */
    public static final int INTERRUPTS = 0x10;

    /** User code only. */
    public static final int NO_KERNEL = 0x100;

    /** Kernel code only. */
    public static final int NO_USER = 0x200;

    /** Also trace processes that a traced one forks. */
    public static final int CHILDREN = 0x400;

    /** Lose no user code: threads wait until the buffer has space. */
    public static final int CONTINUOUS = 0x800;

    private ITrace() {}

    /**
     * Installs ITrace, for the owner of the trace. No process is enabled.
     *
     * @param flags the constants of this class, added
     */
    public static void init(int flags) {
        Native.itraceInit(flags, 0, 0);
    }

    /** Turns ITrace off for all threads and removes it. */
    public static void terminate() {
        Native.itraceTerminate();
    }

    /** Enables this process. Call it before {@link #on()}: it opens the device. */
    public static void enableCurrent() {
        Native.itraceEnableCurrent();
    }

    /**
     * Enables a process, for the owner of the trace.
     *
     * @param pid of the initial pid namespace
     */
    public static void enable(int pid) {
        Native.itraceEnablePid(pid);
    }

    /** Enables all processes, for the owner of the trace. */
    public static void enableAll() {
        Native.itraceEnableAll();
    }

    /** Disables all processes, for the owner of the trace. */
    public static void disable() {
        Native.itraceDisable();
    }

    /**
     * Traces the calling thread from now on; for the owner of the trace, all threads of the enabled
     * processes.
     */
    public static void on() {
        refuseVirtualThread();
        Native.itraceOn();
    }

    /** Ends what {@link #on()} has begun. */
    public static void off() {
        Native.itraceOff();
    }

    /**
     * Traces the calling thread until the region is closed.
     *
     * @return to be closed by the same thread
     */
    public static Region region() {
        Region region = new Region();
        on();
        return region;
    }

    /**
     * What ITrace has recorded.
     *
     * @return a snapshot
     */
    public static Status status() {
        return new Status(Native.itraceStatus());
    }

    /** A part of a program that is traced. */
    public static final class Region implements AutoCloseable {
        private boolean closed;

        private Region() {}

        /** Ends tracing the thread. Does nothing if it has ended, by the owner of the trace for example. */
        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            try {
                Native.itraceOff();
            } catch (PerfException ended) {
                if (ended.code() != PerfException.INCORRECT_STATE) {
                    throw ended;
                }
            }
        }
    }

    /** State and counts of ITrace. */
    public static final class Status {
        private final long[] values;

        private Status(long[] values) {
            this.values = values;
        }

        /**
         * Whether ITrace is installed.
         *
         * @return true after {@link ITrace#init(int)} of any process
         */
        public boolean installed() {
            return values[0] != 0;
        }

        /**
         * Threads that are traced now.
         *
         * @return their number
         */
        public long threads() {
            return values[4];
        }

        /**
         * Branches recorded since ITrace was installed.
         *
         * @return their number
         */
        public long branches() {
            return values[7];
        }

        /**
         * Places where a thread was not followed: kernel code if it is not wanted, for example. The report
         * has the reason of each.
         *
         * @return their number
         */
        public long gaps() {
            return values[8];
        }
    }

    private static void refuseVirtualThread() {
        VirtualThreads.refuse("ITrace traces threads of the kernel");
    }
}
