// SPDX-License-Identifier: MIT
// Ways of ending a Java virtual machine, while a daemon thread runs: tests/cli/jprof_endings.bats. step() is called ten times
// before the end, and three times by a shutdown hook.
public class Endings {
    static int sum;

    static synchronized void step() {
        sum++;
    }

    static void steps(int count) {
        for (int i = 0; i < count; i++) {
            step();
        }
    }

    static void turn() {}

    static void daemon() {
        try {
            while (true) {
                turn();
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The last thread that is no daemon; main has ended. */
    static void lastThread(Thread main) {
        try {
            main.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        steps(5);
    }

    static void end(String how) throws InterruptedException {
        switch (how) {
            case "exit":
                System.exit(3);
                break;
            case "halt":
                Runtime.getRuntime().halt(4);
                break;
            case "throw":
                throw new IllegalStateException("the last exception");
            case "race":
                for (int i = 0; i < 20; i++) {
                    new Thread(() -> System.exit(6)).start();
                }
                break;
            case "wait":
                System.out.println("ready");
                Thread.sleep(1000000);
                break;
            case "memory":
                System.out.println(new long[64 << 20].length); // more than the test lets the heap have
                break;
            default:
                break;
        }
    }

    /** Arguments: how to end. */
    public static void main(String[] args) throws InterruptedException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> steps(3)));
        Thread daemon = new Thread(Endings::daemon);
        daemon.setDaemon(true);
        daemon.start();
        steps(5);
        if (args[0].equals("last")) {
            Thread main = Thread.currentThread();
            new Thread(() -> lastThread(main)).start();
        } else {
            steps(5);
        }
        end(args[0]);
    }
}
