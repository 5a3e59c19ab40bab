// SPDX-License-Identifier: MIT
// What a get of a monitor costs, in processor time of the calling thread: bench/locks.sh. The critical sections are empty but for an
// addition.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class LockCost {
    private static final int GETS = 5_000_000;
    private static final int REPETITIONS = 9;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Object LOCK = new Object();
    private static long count;

    static synchronized void ofClass() {
        count++;
    }

    synchronized void ofObject() {
        count++;
    }

    static void block(Object lock) {
        synchronized (lock) {
            count++;
        }
    }

    static void measure(String what, Runnable gets) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < REPETITIONS; i++) {
            long begin = THREADS.getCurrentThreadCpuTime();
            gets.run();
            least = Math.min(least, THREADS.getCurrentThreadCpuTime() - begin);
        }
        System.out.printf("%-32s %6.1f%n", what, (double) least / GETS);
    }

    public static void main(String[] args) throws InterruptedException {
        Object[] objects = new Object[1000];
        for (int i = 0; i < objects.length; i++) {
            objects[i] = new Object();
        }
        LockCost own = new LockCost();
        Object inflated = new Object();
        Thread waiter = new Thread(() -> {
            synchronized (inflated) {
                try {
                    inflated.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        waiter.setDaemon(true);
        waiter.start();
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        measure("block", () -> {
            for (int i = 0; i < GETS; i++) {
                block(LOCK);
            }
        });
        measure("block, 1000 objects", () -> {
            for (int i = 0; i < GETS; i++) {
                block(objects[i % objects.length]);
            }
        });
        measure("block, inflated monitor", () -> {
            for (int i = 0; i < GETS; i++) {
                block(inflated);
            }
        });
        measure("recursive block", () -> {
            synchronized (LOCK) {
                for (int i = 0; i < GETS; i++) {
                    block(LOCK);
                }
            }
        });
        measure("method", () -> {
            for (int i = 0; i < GETS; i++) {
                own.ofObject();
            }
        });
        measure("static method", () -> {
            for (int i = 0; i < GETS; i++) {
                ofClass();
            }
        });
        measure("System.nanoTime, for comparison", () -> {
            for (int i = 0; i < GETS; i++) {
                count += System.nanoTime();
            }
        });
    }
}
