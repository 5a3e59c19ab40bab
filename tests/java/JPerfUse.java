// SPDX-License-Identifier: MIT
// Uses each class of JPerf.jar, one for each first word, and prints what the tests compare.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import jperf.AboveIdle;
import jperf.Cpi;
import jperf.Hooks;
import jperf.ITrace;
import jperf.PerfException;
import jperf.Privilege;
import jperf.Ptt;
import jperf.RTDriver;
import jperf.Trace;

public final class JPerfUse {
    private static volatile long sink;

    // Loaded at the first use.
    private static final class Clock {
        static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    }

    private interface Action {
        void run() throws Exception;
    }

    // Uses CPU time: on a busy machine it takes longer.
    private static void spin(long milliseconds) {
        long end = Clock.THREADS.getCurrentThreadCpuTime() + milliseconds * 1_000_000;
        while (Clock.THREADS.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 1000; i++) {
                sink += i;
            }
        }
    }

    // Prints the code and the message of an action that must be refused.
    private static void refused(String name, Action action) throws Exception {
        try {
            action.run();
            System.out.println(name + " was not refused");
        } catch (PerfException exception) {
            System.out.println(name + " " + exception.code() + " " + exception.getMessage());
        }
    }

    // A trace of this process, with 100 records of each form and two lost by a wrong major.
    private static void trace(String source, String file) throws Exception {
        Trace.Source wanted = Trace.Source.valueOf(source.toUpperCase());
        try (Trace trace = Trace.settings().source(wanted).scope(Trace.Scope.PROCESS, (int) ProcessHandle.current().pid()).begin()) {
            trace.enable(Trace.TPROF);
            trace.enable(0x70);
            trace.tickBy(1000);
            System.out.println("enabled " + trace.isEnabled(0x70) + " " + trace.isEnabled(0x71));
            trace.on();
            System.out.println("interval " + (Hooks.interval() == trace.intervalId()) + " on " + trace.isOn() + " active " + trace.isActive());
            for (int i = 0; i < 100; i++) {
                boolean stored = Hooks.write(0x70, 1, i, -i, 7);
                stored &= Hooks.write(0x70, 2, new int[] {i}, "call " + i, "\u00fcber");
                if (!stored) {
                    System.out.println("lost " + i);
                }
            }
            try (Hooks.Region region = Hooks.region(0x70, 3, 4, 5)) {
                spin(300);
            }
            trace.suspend();
            System.out.println("suspended " + trace.isActive());
            trace.resume();
            System.out.println("whole " + trace.off());
            Trace.Counts counts = trace.counts();
            System.out.println("counts " + (counts.produced() == counts.written() + counts.lost()) + " lost " + counts.lost());
            for (String sentence : trace.cannotSee()) {
                System.out.println("cannot see " + sentence);
            }
            trace.write(file);
            trace.close(); // and once more at the end of the block
        }
    }

    private static void ptt(String... metrics) throws Exception {
        try (Ptt ptt = Ptt.begin(metrics)) {
            System.out.println("names " + ptt.metrics() + " units " + ptt.units() + " module " + ptt.byModule());
            try (Ptt.Counter counter = ptt.thread()) {
                long[] outer = new long[metrics.length];
                long[] inner = new long[metrics.length];
                try (Ptt.Region region = counter.region(outer)) {
                    for (int i = 0; i < 20; i++) {
                        try (Ptt.Region nested = counter.region(inner)) {
                            Thread.sleep(2);
                            spin(2);
                        }
                    }
                }
                System.out.println("outer " + Arrays.toString(outer) + " inner " + Arrays.toString(inner));
                Thread other = new Thread(() -> {
                    try {
                        refused("thread", () -> counter.read(new long[8]));
                        try (Ptt.Counter own = ptt.thread()) {
                            long[] values = new long[metrics.length];
                            own.read(values);
                            System.out.println("other " + Arrays.toString(values));
                        }
                    } catch (Exception unexpected) {
                        unexpected.printStackTrace();
                    }
                });
                other.start();
                other.join();
                refused("short", () -> counter.read(new long[0]));
                Thread virtual = virtualThread(() -> {
                    try {
                        refused("virtual", ptt::thread);
                    } catch (Exception unexpected) {
                        unexpected.printStackTrace();
                    }
                });
                if (virtual != null) {
                    virtual.join();
                }
            }
            refused("again", () -> Ptt.begin("CYCLES"));
        }
        // PTT ends while a region is open, and before another one.
        try (Ptt ptt = Ptt.begin("CYCLES")) {
            Ptt.Counter counter = ptt.thread();
            long[] sums = new long[1];
            Ptt.Region region = counter.region(sums);
            ptt.close();
            region.close();
            counter.region(sums).close();
            System.out.println("ended " + sums[0] + " failed " + counter.failedRegions());
            refused("read", () -> counter.read(new long[1]));
        }
        refused("unknown", () -> Ptt.begin("no-such-metric"));
        refused("none", () -> Ptt.begin());
    }

    // Starts a virtual thread; null where Java has none.
    private static Thread virtualThread(Runnable work) throws Exception {
        try {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
        } catch (NoSuchMethodException none) {
            return null;
        }
    }

    private static void aboveIdle() throws Exception {
        try (AboveIdle use = AboveIdle.begin()) {
            spin(500);
            List<AboveIdle.Cpu> cpus = use.read();
            long busy = 0;
            for (AboveIdle.Cpu cpu : cpus) {
                System.out.println("cpu " + cpu.number() + " " + (cpu.all() == cpu.idle() + cpu.busy() + cpu.interrupts()));
                busy += cpu.busy();
            }
            System.out.println("exact " + use.isExact() + " busy " + busy);
            refused("twice", AboveIdle::begin);
        }
    }

    private static void cpi() throws Exception {
        try (Cpi cpi = Cpi.begin(Privilege.BOTH)) {
            spin(200);
            Cpi.Values values = cpi.read();
            System.out.println("instructions " + values.thread().instructions() + " cpi " + values.thread().cpi() + " cpus " + values.cpus().size());
            cpi.close();
            refused("closed", cpi::read);
        }
    }

    static int leaf(int value) {
        return value + 1;
    }

    // The method is compiled; then it is called count times while this thread is traced.
    private static void itrace(int count) throws Exception {
        int value = 0;
        for (int i = 0; i < 200; i++) {
            value = calls(value, 1000);
        }
        ITrace.enableCurrent();
        for (int i = 0; i < 2; i++) {
            try (ITrace.Region region = ITrace.region()) {
                value = calls(value, count);
            }
        }
        refused("off", ITrace::off);
        System.out.println("calls " + value + " branches " + (ITrace.status().branches() > 0) + " gaps " + ITrace.status().gaps());
    }

    private static int calls(int value, int count) {
        for (int i = 0; i < count; i++) {
            value = leaf(value);
        }
        return value;
    }

    public static void main(String[] words) throws Exception {
        String[] rest = Arrays.copyOfRange(words, 1, words.length);
        switch (words[0]) {
            case "trace": trace(rest[0], rest[1]); break;
            case "ptt": ptt(rest); break;
            case "ai": aboveIdle(); break;
            case "cpi": refused("cpi", JPerfUse::cpi); break;
            case "itrace": itrace(Integer.parseInt(rest[0])); break;
            case "refused-itrace":
                refused("enable", ITrace::enableCurrent);
                refused("on", ITrace::on);
                break;
            case "hooks":
                System.out.println("stored " + Hooks.write(0x70, 1, 2));
                refused("major", () -> Hooks.write(0x10, 1, 2));
                refused("ints", () -> Hooks.write(0x70, 1, new int[127]));
                refused("nul", () -> Ptt.begin("CYC\0LES"));
                refused("emoji", () -> Ptt.begin("\ud83d\ude00"));
                refused("size", () -> Trace.settings().buffers(-1, 0, 0));
                refused("pid", () -> new RTDriver(-1));
                refused("long", () -> Hooks.write(0x70, 1, new int[0], "x".repeat(2049)));
                break;
            case "command":
                RTDriver jprof = new RTDriver();
                for (String command : rest) {
                    refused(command, () -> System.out.println("answer [" + jprof.command(command) + "]"));
                }
                break;
            default: throw new IllegalArgumentException(words[0]);
        }
    }
}
