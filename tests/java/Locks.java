// SPDX-License-Identifier: MIT
// Monitors whose gets, recursions and contentions are known: tests/cli/jprof_locks.bats. Prints what JProf must report: CLASS
// NONREC REC of each class of monitors. Arguments: how often; then, how many objects and how many random steps.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

public class Locks {
    /** One class for each monitor, so that reports show them by name. */
    static class Single {}

    static class Shared {
        int count;
    }

    static class Nested {}

    static class Outer {}

    static class Thrown {}

    static class Waited {
        int turn;
    }

    static class Contended {}

    static class Deep {}

    static class Timed {}

    static class Collected {}

    static class Short {}

    static class Chained {}

    static class Methods {
        int count;

        synchronized void add() {
            count++;
        }

        synchronized int recursive(int n) {
            return n == 0 ? 0 : 1 + recursive(n - 1);
        }

        synchronized void fails() {
            throw new IllegalStateException();
        }

        // The variable of this has another value at the end.
        synchronized Object loop(List<Object> list) {
            Object last = this;
            for (Object o : list) {
                last = o;
            }
            return last;
        }

        static synchronized long ofClass(long a, double b) {
            return a + (long) b;
        }
    }

    interface Task {
        void run() throws Exception;
    }

    // With -Dvirtual, in JDK 21 and later, a virtual thread.
    static Thread start(Runnable task) throws Exception {
        if (Boolean.getBoolean("virtual")) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        }
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }

    static void inThreads(int count, Task task) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(start(() -> {
                try {
                    task.run();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void expect(String type, long nonrecursive, long recursive) {
        System.out.println("Locks$" + type + " " + nonrecursive + " " + recursive);
    }

    static void check(boolean good, String what) {
        if (!good) {
            System.out.println("wrong: " + what);
            System.exit(1);
        }
    }

    static void single(int n) {
        Object lock = new Single();
        for (int i = 0; i < n; i++) {
            synchronized (lock) {
                if (i % 4 == 0) {
                    continue;
                }
                synchronized (lock) {
                    if (i < 0) {
                        break;
                    }
                }
            }
        }
        expect("Single", n, n - (n + 3) / 4);
    }

    static void shared(int threads, int n) throws Exception {
        Shared shared = new Shared();
        inThreads(threads, () -> {
            for (int i = 0; i < n; i++) {
                synchronized (shared) {
                    shared.count++;
                }
            }
        });
        check(shared.count == threads * n, "count of Shared");
        expect("Shared", (long) threads * n, 0);
    }

    // Monitors that are not left in the reverse order; the loops begin where they are entered.
    static void nested(int n) {
        Nested inner = new Nested();
        Outer outer = new Outer();
        long sum = 0;
        for (int i = 0; i < n; i++) {
            synchronized (outer) {
                for (int j = 0; j < 3; j++) {
                    synchronized (inner) {
                        while (true) {
                            if (++sum % 2 == 0) {
                                break;
                            }
                        }
                    }
                }
            }
        }
        check(sum >= n, "sum of Nested");
        expect("Outer", n, 0);
        expect("Nested", 3L * n, 0);
    }

    static void thrown(int n) {
        Thrown lock = new Thrown();
        int caught = 0;
        for (int i = 0; i < n; i++) {
            try {
                synchronized (lock) {
                    synchronized (lock) {
                        if (i % 2 == 0) {
                            throw new IllegalStateException();
                        }
                        try {
                            throw new RuntimeException();
                        } catch (RuntimeException e) {
                            caught++;
                        }
                    }
                }
            } catch (IllegalStateException e) {
                caught++;
            }
            check(!Thread.holdsLock(lock), "a monitor is held after an exception");
        }
        check(caught == n, "caught exceptions");
        Object none = null;
        try {
            synchronized (none) {
                check(false, "null was entered");
            }
        } catch (NullPointerException e) {
            caught++;
        }
        try {
            lock.notify();
            check(false, "notify without the monitor");
        } catch (IllegalMonitorStateException e) {
            caught++;
        }
        try {
            lock.wait(1, 1);
            check(false, "wait without the monitor");
        } catch (IllegalMonitorStateException | InterruptedException e) {
            caught++;
        }
        check(caught == n + 3, "exceptions of the JVM");
        expect("Thrown", n, n);
    }

    static void methods(int threads, int n) throws Exception {
        Methods methods = new Methods();
        List<Object> list = List.of(methods, list());
        inThreads(threads, () -> {
            for (int i = 0; i < n; i++) {
                methods.add();
                check(methods.recursive(3) == 3, "recursive");
                check(methods.loop(list) != methods, "loop");
                check(Methods.ofClass(i, 1) == i + 1, "ofClass");
                try {
                    methods.fails();
                } catch (IllegalStateException e) {
                    check(!Thread.holdsLock(methods), "a method's monitor is held after an exception");
                }
            }
        });
        check(methods.count == threads * n, "count of Methods");
        expect("Methods", 4L * threads * n, 3L * threads * n);
        expect("Methods.class", (long) threads * n, 0);
    }

    static Object list() {
        return new Object();
    }

    // Two threads take turns; each waits with the monitor entered twice.
    static void waited(int n) throws Exception {
        Waited lock = new Waited();
        int[] next = new int[1];
        inThreads(2, () -> {
            int own;
            synchronized (Locks.class) {
                own = next[0]++;
            }
            for (int i = 0; i < n; i++) {
                synchronized (lock) {
                    synchronized (lock) {
                        while (lock.turn % 2 != own) {
                            lock.wait();
                        }
                        lock.turn++;
                        lock.notifyAll();
                        lock.wait(0, 1);
                    }
                    check(Thread.holdsLock(lock), "the monitor is held after wait");
                }
            }
        });
        expect("Waited", 2L * n, 2L * n);
    }

    // Each get of a second thread has to wait: it begins while the first one holds the monitor for long enough.
    static void contended(int n) throws Exception {
        Contended lock = new Contended();
        for (int i = 0; i < n; i++) {
            CountDownLatch held = new CountDownLatch(1);
            Thread second = start(() -> {
                try {
                    held.await();
                } catch (InterruptedException e) {
                    return;
                }
                synchronized (lock) {
                    check(Thread.holdsLock(lock), "held");
                }
            });
            synchronized (lock) {
                held.countDown();
                while (second.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            }
            second.join();
        }
        expect("Contended", 2L * n, 0);
        System.out.println("slow Locks$Contended " + n);
    }

    static int depth;

    // Until the stack overflows, in and out of the monitor.
    static void down(Deep lock) {
        synchronized (lock) {
            depth++;
            down(lock);
        }
    }

    static void deep() throws Exception {
        Deep lock = new Deep();
        Thread thread = new Thread(null, () -> {
            for (int i = 0; i < 20; i++) {
                try {
                    down(lock);
                    check(false, "no overflow");
                } catch (StackOverflowError e) {
                    check(!Thread.holdsLock(lock), "a monitor is held after an overflow");
                }
            }
        }, "deep", 512 << 10);
        thread.start();
        thread.join();
        Thread other = new Thread(() -> {
            synchronized (lock) {
                depth++;
            }
        });
        other.start();
        other.join();
    }

    // Prints the program's own measurement of its holds, without what it waited. Garbage collections are in it.
    static void timed(int n) throws Exception {
        Timed lock = new Timed();
        Collected collected = new Collected();
        long sum = 0;
        for (int i = 0; i < n; i++) {
            synchronized (lock) {
                sum += busy(1_000_000);
                if (i % 2 == 0) {
                    lock.wait(2);
                    sum += busy(1_000_000);
                }
            }
        }
        System.out.println("held Locks$Timed " + sum);
        long begin;
        synchronized (collected) {
            begin = System.nanoTime();
            busy(2_000_000);
            for (int i = 0; i < 10; i++) {
                System.gc();
            }
            sum = System.nanoTime() - begin;
        }
        System.out.println("collected Locks$Collected " + sum);
    }

    static long busy(long nanoseconds) {
        long begin = System.nanoTime();
        long now = begin;
        while (now - begin < nanoseconds) {
            now = System.nanoTime();
        }
        return now - begin;
    }

    // More objects than can be listed.
    static void many(int n) {
        for (int i = 0; i < n; i++) {
            Short lock = new Short();
            synchronized (lock) {
                synchronized (lock) {
                    depth++;
                }
            }
        }
        expect("Short", n, n);
    }

    // Enters and leaves at random, with a model of what is held.
    static void random(long steps, long seed) throws Exception {
        Chained[] locks = new Chained[8];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = new Chained();
        }
        long[] gets = new long[2];
        Random random = new Random(seed);
        while (gets[0] + gets[1] < steps) {
            enter(locks, new int[locks.length], gets, random, 0);
        }
        expect("Chained", gets[0], gets[1]);
    }

    static void enter(Chained[] locks, int[] held, long[] gets, Random random, int level) {
        int i = random.nextInt(locks.length);
        try {
            synchronized (locks[i]) {
                gets[held[i]++ == 0 ? 0 : 1]++;
                while (level < 12 && random.nextInt(3) > 0) {
                    enter(locks, held, gets, random, level + 1);
                }
                held[i]--;
                if (random.nextInt(8) == 0) {
                    throw new IllegalStateException();
                }
            }
        } catch (IllegalStateException e) {
            return;
        }
    }

    // For each number that is read, that many gets of a monitor.
    static void commands() throws Exception {
        Shared shared = new Shared();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int n = Integer.parseInt(line);
            for (int i = 0; i < n; i++) {
                synchronized (shared) {
                    shared.count++;
                }
            }
            System.out.println("done " + shared.count);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("commands")) {
            commands();
            return;
        }
        int n = Integer.parseInt(args[0]);
        single(n);
        shared(4, n);
        nested(n);
        thrown(n);
        methods(3, n / 10);
        waited(n / 100);
        contended(10);
        deep();
        timed(20);
        if (args.length > 1) {
            many(Integer.parseInt(args[1]));
            random(Long.parseLong(args[2]), 19);
        }
    }
}
