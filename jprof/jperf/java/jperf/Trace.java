// SPDX-License-Identifier: MIT
package jperf;

import java.util.List;

/**
 * A trace of the system, or of one process: set up, on, off, written to a file. One exists at a time in
 * the system; the process that has begun it owns it until {@link #close()} or its end.
 *
 * <pre>{@code
 * try (Trace trace = Trace.settings().begin()) {
 *     trace.enable(Trace.TPROF);
 *     trace.on();
 *     work();
 *     trace.off();
 *     trace.write("swtrace.nrm2"); // for the program post
 * }
 * }</pre>
 *
 * <p>Any thread may call any method; libperfutil serialises the calls. All of them throw
 * {@link PerfException}.
 */
public final class Trace implements AutoCloseable {
    /** All majors (event classes). */
    public static final int ALL = 0;

    /** The majors that a tprof report needs. */
    public static final int TPROF = 255;

    /** What records the trace. */
    public enum Source {
        /** The module if its device can be opened, else perf events. */
        AUTO,
        /** The pitrace module. */
        DRIVER,
        /** perf_event_open. */
        PERF
    }

    /** What perf events record; the module always records the system. */
    public enum Scope {
        /** All processes. */
        SYSTEM,
        /** One process and its children. */
        PROCESS,
        /** All processes where that is permitted, else one. */
        AUTO
    }

    /** What happens when a buffer is full. */
    public enum Mode {
        /** Recording stops. */
        NORMAL,
        /** The newest records replace the oldest. */
        WRAP,
        /** Records are written to the file while recording. */
        CONTINUOUS
    }

    /** Which stacks ticks and dispatches have. */
    public enum Stacks {
        /** None. */
        OFF,
        /** Kernel frames. */
        KERNEL,
        /** User frames. */
        USER,
        /** Both. */
        BOTH
    }

    /** What is chosen before a trace begins. Each method returns this object. */
    public static final class Settings {
        private static final int DEFAULT_BYTES = 3 << 20;

        private Source source = Source.AUTO;
        private Scope scope = Scope.AUTO;
        private int pid;
        private Mode mode = Mode.NORMAL;
        private String name;
        private int sectionBytes;
        private int nameBytes;
        private int bytes = DEFAULT_BYTES;

        private Settings() {}

        /**
         * Chooses what records.
         *
         * @param wanted the source; at first {@link Source#AUTO}
         * @return this
         */
        public Settings source(Source wanted) {
            source = wanted;
            return this;
        }

        /**
         * Chooses what perf events record.
         *
         * @param wanted the scope; at first {@link Scope#AUTO}
         * @param process the process that the trace is about; 0: none
         * @return this
         */
        public Settings scope(Scope wanted, int process) {
            scope = wanted;
            pid = process;
            return this;
        }

        /**
         * Chooses the mode.
         *
         * @param wanted the mode; at first {@link Mode#NORMAL}
         * @return this
         */
        public Settings mode(Mode wanted) {
            mode = wanted;
            return this;
        }

        /**
         * Names the file of the modes WRAP and CONTINUOUS.
         *
         * @param file at most 1023 bytes; at first swtrace.nrm2
         * @return this
         */
        public Settings name(String file) {
            name = file;
            return this;
        }

        /**
         * Sets the sizes of the buffers of each CPU.
         *
         * @param trace bytes of the trace buffer; at first 3 MB
         * @param names bytes of the buffer of names; 0: 5 MB
         * @param section bytes written at a time in the modes WRAP and CONTINUOUS; 0: 64 KB
         * @return this
         * @throws PerfException for a size below 0
         */
        public Settings buffers(int trace, int names, int section) {
            if (trace < 0 || names < 0 || section < 0) {
                throw new PerfException(PerfException.INVALID_PARAMETER, "The size of a buffer is below 0.");
            }
            bytes = trace;
            nameBytes = names;
            sectionBytes = section;
            return this;
        }

        /**
         * Begins the trace: allocates its buffers. It is off, and no major is enabled.
         *
         * @return the trace
         */
        public Trace begin() {
            Native.setSource(source.ordinal());
            Native.setScope(scope.ordinal(), pid);
            Native.setMode(mode.ordinal());
            if (name != null) {
                Native.setName(name);
            }
            if (sectionBytes != 0) {
                Native.setSectionSize(sectionBytes);
            }
            if (nameBytes != 0) {
                Native.setMteSize(nameBytes);
            }
            Native.traceInit(bytes);
            return new Trace();
        }
    }

    /** Records since {@link #on()}. */
    public static final class Counts {
        private final long[] counts;

        private Counts(long[] counts) {
            this.counts = counts;
        }

        /**
         * Records that were to be written.
         *
         * @return of all CPUs
         */
        public long produced() {
            return counts[0] + counts[3];
        }

        /**
         * Records that were written.
         *
         * @return of all CPUs
         */
        public long written() {
            return counts[1] + counts[4];
        }

        /**
         * Records that were lost.
         *
         * @return of all CPUs
         */
        public long lost() {
            return counts[2] + counts[5];
        }
    }

    private boolean closed;

    private Trace() {}

    /**
     * The settings of a new trace.
     *
     * @return the defaults
     */
    public static Settings settings() {
        return new Settings();
    }

    /**
     * Enables a major, also while the trace is on.
     *
     * @param major {@link #ALL}, {@link #TPROF}, or 1 to 254
     */
    public void enable(int major) {
        Native.traceEnable(major);
    }

    /**
     * Disables a major, also while the trace is on.
     *
     * @param major as {@link #enable(int)}
     */
    public void disable(int major) {
        Native.traceDisable(major);
    }

    /**
     * Whether a major is enabled.
     *
     * @param major 1 to 254
     * @return true if it is
     */
    public boolean isEnabled(int major) {
        return Native.traceQueryMajor(major);
    }

    /**
     * Has ticks (samples) written by time.
     *
     * @param ticksPerSecond of each CPU, 1 to 10,000; 0: 100
     */
    public void tickBy(int ticksPerSecond) {
        Native.setProfilerRate(ticksPerSecond);
    }

    /**
     * Has ticks (samples) written by events.
     *
     * @param event any name that {@code swtrace event list} prints
     * @param count events for each tick; 0: the default of the event
     * @param where where they are counted
     * @param random true: each period is 0.75 to 1.25 of the count; only the module can
     */
    public void tickBy(String event, long count, Privilege where, boolean random) {
        Native.setTprofEvent(event, count, where.number(), random);
    }

    /**
     * Adds stacks to ticks and dispatches.
     *
     * @param which the frames
     * @param depth kernel frames and user frames each, 1 to 127; 0: 64
     */
    public void stacks(Stacks which, int depth) {
        Native.setStacks(which.ordinal(), depth);
    }

    /** Starts recording with empty buffers. */
    public void on() {
        Native.traceOn();
    }

    /**
     * Stops recording; the buffers keep their records.
     *
     * @return false if recording had stopped by itself before, as a buffer was full
     */
    public boolean off() {
        return Native.traceOff();
    }

    /** Pauses all records but names. */
    public void suspend() {
        Native.traceSuspend();
    }

    /** Ends the pause. */
    public void resume() {
        Native.traceResume();
    }

    /** Discards the records since {@link #on()}, except for names. */
    public void discard() {
        Native.traceDiscard();
    }

    /**
     * Writes the trace to a file of mode 0600, which replaces a regular file of that name.
     *
     * @param file its name; null: the one of the settings
     */
    public void write(String file) {
        Native.traceWrite(file);
    }

    /**
     * Whether the trace is on.
     *
     * @return true between {@link #on()} and {@link #off()}
     */
    public boolean isOn() {
        return Native.isTraceOn();
    }

    /**
     * Whether records are being stored.
     *
     * @return true while the trace is on, not suspended and no buffer is full
     */
    public boolean isActive() {
        return Native.isTraceActive();
    }

    /**
     * Counts successful calls of {@link #on()}.
     *
     * @return 0 before the first
     */
    public int intervalId() {
        return Native.traceIntervalId();
    }

    /**
     * The kinds of events that the source in use cannot record.
     *
     * @return a sentence for each
     */
    public List<String> cannotSee() {
        return List.of(Native.cannotSee());
    }

    /**
     * Records so far.
     *
     * @return a snapshot
     */
    public Counts counts() {
        return new Counts(Native.traceCounts());
    }

    /** Stops recording if it is on, and frees the buffers. A second call does nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Native.traceTerminate();
        }
    }
}
