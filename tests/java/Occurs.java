// SPDX-License-Identifier: MIT
// Known numbers of allocations, waits for monitors, blocked gets and loaded classes, for tests of what is counted by place.
// Argument: how often. All objects escape, so that no compiler can leave them out.
import java.io.IOException;
import java.io.InputStream;

public final class Occurs {
    static volatile Object sink;
    long first;
    long second;

    /** Half of all bytes: arrays of 1,016 bytes, with their heads. */
    private static void arrays(int times) {
        for (int i = 0; i < times; i++) {
            sink = new byte[1000];
        }
    }

    /** Three tenths: 19 objects of 32 bytes for each array. */
    private static void objects(int times) {
        for (int i = 0; i < 19 * times; i++) {
            sink = new Occurs();
        }
    }

    /** One fifth: an array of arrays, 408 bytes, for each array. */
    private static void tables(int times) {
        for (int i = 0; i < times; i++) {
            sink = new Object[98];
        }
    }

    private static final class Lock {}

    private static void waits(Lock lock, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            synchronized (lock) {
                lock.wait(1);
            }
        }
    }

    private static void blocked(Lock lock) {
        synchronized (lock) {
            sink = lock;
        }
    }

    private static void contends(Lock lock, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            Thread other = new Thread(() -> blocked(lock), "other");
            synchronized (lock) {
                other.start();
                while (other.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            }
            other.join();
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        private Class<?> defines(byte[] code) {
            return defineClass("Occurs", code, 0, code.length);
        }
    }

    private static void loads(byte[] code, int times) {
        for (int i = 0; i < times; i++) {
            sink = new Loader().defines(code);
        }
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        int times = Integer.parseInt(args[0]);
        byte[] code;
        try (InputStream file = Occurs.class.getResourceAsStream("Occurs.class")) {
            code = file.readAllBytes();
        }
        // First few and interpreted, then compiled.
        for (int part = 0; part < 10; part++) {
            arrays(times / 10);
            objects(times / 10);
            tables(times / 10);
        }
        Lock lock = new Lock();
        waits(lock, 20);
        contends(lock, 7);
        loads(code, 9);
        System.out.println("occurred");
    }
}
