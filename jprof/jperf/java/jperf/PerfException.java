// SPDX-License-Identifier: MIT
package jperf;

/**
 * A call that libperfutil has refused, or a part of it that is not available here. The message says
 * what happened and what to do about it.
 *
 * <p>It is unchecked, so that a measured program needs no handlers. A program that must also run where
 * it may not trace catches it where it begins to measure.
 */
public final class PerfException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** libjperf.so or libperfutil.so cannot be loaded, or has another version than JPerf.jar. */
    public static final int NO_LIBRARY = -258;

    /** The call is not available here: see the message. */
    public static final int NOT_SUPPORTED = -210;

    /** The call does not fit the state, for example {@link Trace#off()} of a trace that is not on. */
    public static final int INCORRECT_STATE = -201;

    /** What is to be used has not begun, or has ended. */
    public static final int NOT_INITIALIZED = -6;

    /** The user may not do this. */
    public static final int ACCESS_DENIED = -5;

    /** Another process owns what can have only one owner. */
    public static final int FACILITY_BUSY = -211;

    /** An argument is out of range. */
    public static final int INVALID_PARAMETER = -87;

    private final int code;

    PerfException(int code, String message) {
        super(message);
        this.code = code;
    }

    /**
     * The return code of libperfutil.
     *
     * @return one of the negative numbers PU_ERROR_* of perfutil/errors.h
     */
    public int code() {
        return code;
    }
}
