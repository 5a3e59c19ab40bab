// SPDX-License-Identifier: MIT
// Runs named threads, with one method inlined into another, until its standard input ends. Prints "ready CLOCK" when
// the methods are compiled, and "done CLOCK" at the end; CLOCK is the JVM's clock in nanoseconds.
public class Steady {
    static volatile long sink;

    static long inner(long x) {
        return x * 31 + (x >>> 7);
    }

    static long middle(long x) {
        return inner(x) ^ inner(x + 1);
    }

    static long outer(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += middle(i);
        }
        return sum;
    }

    static class Area {
        long 面𠮷(long x) {
            return inner(x);
        }
    }

    static void work() {
        Area g = new Area();
        while (!Thread.currentThread().isInterrupted()) {
            sink += outer(20_000);
            for (int i = 0; i < 20_000; i++) {
                sink += g.面𠮷(i);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread named = new Thread(Steady::work, "worker \"one\" of two");
        Thread nameless = new Thread(Steady::work, "");
        named.start();
        nameless.start();
        long end = System.nanoTime() + 1_500_000_000L;
        while (System.nanoTime() < end) {
            sink += outer(20_000);
        }
        System.out.println("ready " + System.nanoTime());
        while (System.in.read() >= 0) {
            sink += outer(20_000);
        }
        named.interrupt();
        nameless.interrupt();
        named.join();
        nameless.join();
        System.out.println("done " + System.nanoTime());
    }
}
