// SPDX-License-Identifier: MIT
package jperf;

import java.io.File;
import java.net.URISyntaxException;
import java.security.CodeSource;

/**
 * The native methods of this package. Each throws PerfException for a return code below 0 unless its
 * comment says otherwise; units and codes are those of the C function that it calls.
 */
final class Native {
    static {
        load();
        String version = version();
        String own = Native.class.getPackage().getImplementationVersion();
        if (own != null && !own.equals(version)) {
            throw new PerfException(PerfException.NO_LIBRARY,
                    "libjperf.so has version " + version + " and JPerf.jar " + own + ". Install both from the same pitrace.");
        }
    }

    private Native() {}

    // From the path of libraries; else beside the jar, or in lib beside the jar's share or bin.
    private static void load() {
        try {
            System.loadLibrary("jperf");
            return;
        } catch (UnsatisfiedLinkError missing) {
            for (String place : new String[] {"", "../lib/", "../../lib/", "../../lib/x86_64-linux-gnu/jni/", "../../../lib/"}) {
                File file = beside(place + "libjperf.so");
                if (file != null && file.isFile()) {
                    loadFile(file);
                    return;
                }
            }
            throw new PerfException(PerfException.NO_LIBRARY, "libjperf.so is not found (" + missing.getMessage()
                    + "). Name its directory with -Djava.library.path=DIRECTORY.");
        }
    }

    private static void loadFile(File file) {
        try {
            System.load(file.getCanonicalPath());
        } catch (java.io.IOException | UnsatisfiedLinkError unusable) {
            throw new PerfException(PerfException.NO_LIBRARY, "'" + file + "' cannot be loaded: " + unusable.getMessage() + ".");
        }
    }

    private static File beside(String name) {
        CodeSource source = Native.class.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null) {
            return null;
        }
        try {
            return new File(new File(source.getLocation().toURI()).getParentFile(), name);
        } catch (URISyntaxException | IllegalArgumentException notAFile) {
            return null;
        }
    }

    static native String version();

    // ---- trace ----
    static native void setSource(int source);
    static native void setScope(int scope, int pid);
    static native void setMode(int mode);
    static native void setName(String name);
    static native void setSectionSize(int bytes);
    static native void setMteSize(int bytes);
    static native void traceInit(int bytes);
    static native void traceEnable(int major);
    static native void traceDisable(int major);
    static native boolean traceQueryMajor(int major);
    static native void setProfilerRate(int rate);
    static native void setTprofEvent(String name, long count, int privilege, boolean random);
    static native void setStacks(int which, int depth);
    static native void traceOn();
    /** False: recording had stopped by itself, as a buffer was full. */
    static native boolean traceOff();
    static native void traceSuspend();
    static native void traceResume();
    static native void traceDiscard();
    static native void traceTerminate();
    static native void traceWrite(String name);
    static native boolean isTraceOn();
    static native boolean isTraceActive();
    static native int traceIntervalId();
    static native String[] cannotSee();
    /** produced, written and lost records of the trace buffers, and of the name buffers. */
    static native long[] traceCounts();

    // ---- user hooks; these return the code and throw nothing ----
    static native int hook(int major, int minor, int[] ints, int count, byte[][] strings);
    static native int hookInterval();

    // ---- ITrace ----
    static native void itraceInit(int flags, int threads, int reserve);
    static native void itraceTerminate();
    static native void itraceOn();
    static native void itraceOff();
    static native void itraceDisable();
    static native void itraceEnableAll();
    static native void itraceEnableCurrent();
    static native void itraceEnablePid(int pid);
    /** installed, on, flags, how, threads, untraced, steps, branches, gaps. */
    static native long[] itraceStatus();

    // ---- PTT ----
    static native void pttInit(String[] metrics, int privilege);
    static native void pttTerminate();
    static native void pttInitThread();
    static native void pttUninitThread();
    /** The code; values has at least as many elements as PTT has metrics. Throws nothing. */
    static native int pttRead(long[] values);
    /** Names, then units; the last element is what cannot be separated from a thread. */
    static native String[] pttNames();
    static native int pttSource();

    // ---- AboveIdle ----
    static native void aiInit();
    static native void aiTerminate();
    static native int aiSource();
    /** Six numbers for each CPU: time, idle, busy, interrupts (ns), dispatches, interrupts. */
    static native long[] aiRead();

    // ---- CPI ----
    static native long cpiInit(int flags, int privilege);
    static native void cpiStart(long handle);
    /** elapsed_ns; then for the system, the thread and each CPU: cpu, counted_ns and four counts. */
    static native long[] cpiRead(long handle);
    /** The same, and writes records. */
    static native long[] cpiTrace(long handle, int minor, boolean detail, String label);
    static native void cpiTerminate(long handle);

    // ---- JProf's command server ----
    /** The answer; PerfException if the command was not done. pid 0: this process. */
    static native String command(int pid, String command);
}
