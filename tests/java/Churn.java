// SPDX-License-Identifier: MIT
// Starts and ends threads, loads and unloads classes, recurses, throws and collects garbage all the time, for tests of
// call-stack sampling. Arguments: how many threads are started, and how it ends: return, exit or halt, the last two while
// threads run.
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicInteger;

public final class Churn implements Runnable {
    static volatile long sink;
    static volatile boolean ended;
    static final AtomicInteger started = new AtomicInteger();

    /** Defines this class anew. */
    private static final class Loader extends ClassLoader {
        private final byte[] code;

        Loader(byte[] code) {
            super(null);
            this.code = code;
        }

        Class<?> define() {
            return defineClass("Churn", code, 0, code.length);
        }
    }

    @Override
    public void run() {
        try {
            sink += down(200);
        } catch (IllegalStateException e) {
            sink++;
        }
    }

    private static long down(int depth) {
        if (depth > 0) {
            return down(depth - 1) * 3 + depth;
        }
        long value = 1;
        for (int i = 0; i < 20_000; i++) {
            value = value * 31 + Integer.toString(i).hashCode();
        }
        if (value % 2 == 0) {
            throw new IllegalStateException("even");
        }
        return value;
    }

    private static void churn(byte[] code) throws ReflectiveOperationException, InterruptedException {
        while (!ended) {
            Runnable copy = (Runnable) new Loader(code).define().getConstructor().newInstance();
            Thread thread = new Thread(copy, "short-lived");
            thread.start();
            started.incrementAndGet();
            copy.run();
            thread.join();
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        byte[] code;
        try (InputStream file = Churn.class.getResourceAsStream("Churn.class")) {
            code = file.readAllBytes();
        }
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                try {
                    churn(code);
                } catch (ReflectiveOperationException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "churn-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        while (started.get() < Integer.parseInt(args[0])) {
            System.gc();
            Thread.sleep(20);
        }
        System.out.println("churned");
        if (args[1].equals("exit")) {
            System.exit(3);
        } else if (args[1].equals("halt")) {
            Runtime.getRuntime().halt(4);
        }
        ended = true;
    }
}
