// SPDX-License-Identifier: MIT
// Uses the processor in known shares, for tests of call-stack sampling. Arguments: milliseconds of processor time of each
// thread, and the number of threads. Prints what each method took by the thread's own clock; thread 0 also recurses deeply.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

public final class Sampled {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final long[] TOOK = new long[4];

    private long state;

    private static long now() {
        return CLOCK.getCurrentThreadCpuTime();
    }

    private void spin() {
        for (int i = 0; i < 5_000; i++) {
            state = state * 31 + (state >>> 7);
        }
    }

    private void half(long end) {
        while (now() < end) {
            spin();
        }
    }

    private void third(long end) {
        while (now() < end) {
            spin();
        }
    }

    private void fifth(long end) {
        while (now() < end) {
            spin();
        }
    }

    private void deep(int depth, long end) {
        if (depth > 0) {
            deep(depth - 1, end);
            return;
        }
        while (now() < end) {
            spin();
        }
    }

    /** Slices have random lengths, so that no period of a sampling clock fits them. */
    private void work(int number, long nanoseconds) {
        Random random = new Random(number);
        long[] took = new long[TOOK.length];
        long begin = now();
        for (long time = begin; time - begin < nanoseconds; ) {
            int which = random.nextInt(10);
            long end = time + 100_000 + random.nextInt(4_000_000);
            int kind = which < 5 ? 0 : which < 8 ? 1 : 2;
            if (kind == 0) {
                half(end);
            } else if (kind == 1) {
                third(end);
            } else {
                fifth(end);
            }
            long next = now();
            took[kind] += next - time;
            time = next;
        }
        if (number == 0) {
            long time = now();
            deep(3000, time + nanoseconds / 20);
            took[3] += now() - time;
        }
        synchronized (TOOK) {
            for (int i = 0; i < took.length; i++) {
                TOOK[i] += took[i];
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long nanoseconds = Long.parseLong(args[0]) * 1_000_000;
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> new Sampled().work(number, nanoseconds), "sampled-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.printf("half %d%nthird %d%nfifth %d%ndeep %d%n", TOOK[0], TOOK[1], TOOK[2], TOOK[3]);
    }
}
