// SPDX-License-Identifier: MIT
// A program with counts of its own, which it writes to the file ARGUMENT and to stdout: its thread is ended by Thread.stop() again
// and again, and it has a method with the name that JProf gives to native ones.
import java.nio.file.Files;
import java.nio.file.Path;

public final class Unusual {
    private static final int STOPS = 40;

    private static volatile boolean armed;
    private static volatile boolean ends;
    private static volatile int stopped;
    private static int outer;
    private static int inner;
    private static int leaf;

    private Unusual() {}

    private static native int twice(int number);

    private static int $pitrace$twice(int number) {
        return 2 * number;
    }

    private static void leaf() {
        leaf++;
    }

    private static void inner(int depth) {
        inner++;
        for (int i = 0; i < 50; i++) {
            leaf();
        }
        if (depth > 0) {
            inner(depth - 1);
        }
    }

    @SuppressWarnings("removal") // ThreadDeath, from JDK 20 on
    private static void outer() {
        outer++;
        try {
            armed = true;
            while (!ends) {
                inner(5);
            }
        } catch (ThreadDeath e) {
            armed = false;
        }
        stopped++;
    }

    private static void work() {
        do {
            outer();
        } while (!ends);
    }

    @SuppressWarnings({"deprecation", "removal"})
    private static void stopAgainAndAgain(Thread thread) throws InterruptedException {
        for (int i = 0; i < STOPS; i++) {
            while (!armed) {
                Thread.sleep(1);
            }
            try {
                thread.stop();
            } catch (UnsupportedOperationException e) { // JDK 20 and later
                break;
            }
            while (stopped <= i) {
                Thread.sleep(1);
            }
        }
        ends = true;
        thread.join();
    }

    public static void main(String[] arguments) throws Exception {
        Thread thread = new Thread(Unusual::work, "stopped");
        thread.start();
        stopAgainAndAgain(thread);
        String text = String.format("outer %d\ninner %d\nleaf %d\ntwice %d\n", outer, inner, leaf, $pitrace$twice(4));
        try {
            twice(1);
        } catch (UnsatisfiedLinkError e) {
            text += "no code\n";
        }
        Files.writeString(Path.of(arguments[0]), text);
        System.out.println("output of the program");
        System.err.println("output of the program");
    }
}
