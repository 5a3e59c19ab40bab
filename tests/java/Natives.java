// SPDX-License-Identifier: MIT
// Uses the processor in functions of C, for tests of call-stack sampling. Arguments: the path of the library, and what is done:
//   shares MS THREADS     two functions of C in known shares; prints what each took by the thread's own clock
//   unload MS A B EACH    loads and unloads two libraries in turn, which the loader puts at the same address, for EACH ms
//   loader MS A           threads load and unload a library, allocate and end, all the time
//   overflow MS           native methods are called where stacks overflow
import java.util.ArrayList;
import java.util.List;

public final class Natives {
    private static final long MILLISECOND = 1_000_000;

    private static native void shares(long nanoseconds, int seed);

    private static native void printShares();

    /** Both load a library, call its function, which uses the processor, and unload it. */
    private static native boolean callFirst(String library, long nanoseconds);

    private static native boolean callSecond(String library, long nanoseconds);

    private static native void allocate(long nanoseconds);

    private static native void leaf(long nanoseconds);

    private static long end(String[] args) {
        return System.nanoTime() + Long.parseLong(args[2]) * MILLISECOND;
    }

    private static void unload(long end, String first, String second, long each) {
        while (System.nanoTime() < end) {
            if (!callFirst(first, each) || !callSecond(second, each)) {
                throw new IllegalStateException("a library cannot be loaded");
            }
        }
    }

    private static void loadAndAllocate(long end, String library) {
        while (System.nanoTime() < end) {
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; i++) {
                boolean loads = i % 2 == 0;
                threads[i] = new Thread(() -> {
                    for (int k = 0; loads && k < 20; k++) {
                        callFirst(library, MILLISECOND);
                    }
                    allocate(10 * MILLISECOND);
                }, "short-lived");
                threads[i].start();
            }
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static int down(int depth) {
        leaf(1000);
        return down(depth + 1) + 1;
    }

    private static void overflow(long end) {
        int overflows = 0;
        while (System.nanoTime() < end) {
            try {
                down(0);
            } catch (StackOverflowError e) {
                overflows++;
            }
        }
        if (overflows == 0) {
            throw new IllegalStateException("no stack has overflowed");
        }
    }

    public static void main(String[] args) throws InterruptedException {
        System.load(args[0]);
        List<Thread> threads = new ArrayList<>();
        switch (args[1]) {
            case "shares":
                for (int i = 0; i < Integer.parseInt(args[3]); i++) {
                    int seed = i;
                    threads.add(new Thread(() -> shares(Long.parseLong(args[2]) * MILLISECOND, seed), "shares-" + i));
                }
                break;
            case "unload":
                threads.add(new Thread(() -> unload(end(args), args[3], args[4], Long.parseLong(args[5]) * MILLISECOND),
                    "unload"));
                break;
            case "loader":
                threads.add(new Thread(() -> loadAndAllocate(end(args), args[3]), "loader"));
                break;
            case "overflow":
                threads.add(new Thread(() -> overflow(end(args)), "overflow"));
                break;
            default:
                throw new IllegalArgumentException(args[1]);
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (args[1].equals("shares")) {
            printShares();
        }
        System.out.println("done");
    }
}
