// SPDX-License-Identifier: MIT
package jperf;

import java.nio.charset.StandardCharsets;

/**
 * User hooks: records that the application writes into the trace that runs, of any owner. Without a
 * trace a hook costs some ten nanoseconds.
 *
 * <p>Any thread may call the methods, in parallel. The records have the time and the CPU at which they
 * were written, not the thread.
 */
public final class Hooks {
    private static final byte[][] NO_STRINGS = {};
    private static final int NO_BUFFER = -202;
    private static final int BUFFER_FULL = -205;

    private Hooks() {}

    /**
     * Writes a record.
     *
     * @param major 1 to 254 without those of the system: see TraceHook() of perfutil/hooks.h
     * @param minor any number
     * @param ints at most 126
     * @return false if the record is lost, because the buffer was full; the trace counts it. True also if
     *     no trace wants it
     * @throws PerfException for a major of the system, or more than a record holds
     */
    public static boolean write(int major, int minor, int... ints) {
        return wasStored(Native.hook(major, minor, ints, ints.length, NO_STRINGS));
    }

    /**
     * Writes a record with strings, which are stored as UTF-8.
     *
     * @param major as {@link #write(int, int, int...)}
     * @param minor any number
     * @param ints at most 126
     * @param strings at most 16, of at most 2048 bytes
     * @return as {@link #write(int, int, int...)}
     * @throws PerfException as {@link #write(int, int, int...)}
     */
    public static boolean write(int major, int minor, int[] ints, String... strings) {
        byte[][] bytes = new byte[strings.length][];
        for (int i = 0; i < strings.length; i++) {
            bytes[i] = strings[i].getBytes(StandardCharsets.UTF_8);
        }
        return wasStored(Native.hook(major, minor, ints, ints.length, bytes));
    }

    /**
     * The trace that hooks of this process go to.
     *
     * @return its interval ({@link Trace#intervalId()} of its owner) while it is on, else 0
     */
    public static int interval() {
        return Native.hookInterval();
    }

    /**
     * Writes a record now and, when it is closed, another one.
     *
     * <pre>{@code
     * try (Hooks.Region region = Hooks.region(0x70, 1, 2, request)) {
     *     serve(request);
     * }
     * }</pre>
     *
     * @param major as {@link #write(int, int, int...)}
     * @param begin minor of the first record
     * @param end minor of the second record
     * @param value the only int of both
     * @return to be closed by the same thread
     * @throws PerfException as {@link #write(int, int, int...)}
     */
    public static Region region(int major, int begin, int end, int value) {
        write(major, begin, value);
        return new Region(major, end, value);
    }

    /** A part of a program between two records. */
    public static final class Region implements AutoCloseable {
        private final int major;
        private final int minor;
        private final int value;

        private Region(int major, int minor, int value) {
            this.major = major;
            this.minor = minor;
            this.value = value;
        }

        /** Writes the second record. */
        @Override
        public void close() {
            write(major, minor, value);
        }
    }

    private static boolean wasStored(int code) {
        if (code == 0 || code == NO_BUFFER) {
            return true;
        }
        if (code == BUFFER_FULL) {
            return false;
        }
        throw new PerfException(code, code == PerfException.INVALID_PARAMETER
                ? "Applications may not write records of this major."
                : "The hook was not written (code " + code + "): a record holds 126 ints, 16 strings of 2048 bytes, and 4000 bytes in all.");
    }
}
