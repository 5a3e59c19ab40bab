// SPDX-License-Identifier: MIT
// Allocates known numbers of objects, of which known ones stay in use, for tests of LIVEOBJECTS. Argument: how many of each kind.
// Waits for a line of its input between two parts.
import java.io.IOException;

public final class InUse {
    private static Object[] kept;
    private static Object[] halved;
    private static Object[] ofThread;
    private static volatile Object sink;

    private static void keeps(int count) {
        for (int i = 0; i < count; i++) {
            kept[i] = new byte[1000];
        }
    }

    private static void halves(int count) {
        for (int i = 0; i < count; i++) {
            halved[i] = new long[10];
        }
        for (int i = 0; i < count; i += 2) {
            halved[i] = null;
        }
    }

    private static void wastes(int count) {
        for (int i = 0; i < count; i++) {
            sink = new InUse();
        }
        sink = null;
    }

    /** Just before the end: the objects that the array of halves() has not. */
    private static void fills(int count) {
        for (int i = 0; i < count; i += 2) {
            halved[i] = new short[20];
        }
    }

    /** In a thread that ends. */
    private static void keepsForOthers(int count) {
        for (int i = 0; i < count; i++) {
            ofThread[i] = new int[100];
        }
    }

    /** The same method by another path. */
    private static void callsKeeps(int count) {
        keeps(count);
    }

    private static void waitsForLine() throws IOException {
        System.out.println("waits");
        while (System.in.read() != '\n') {
            continue;
        }
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        int count = Integer.parseInt(args[0]);
        kept = new Object[count];
        halved = new Object[count];
        ofThread = new Object[count];
        for (int part = 0; part < 10; part++) {
            wastes(count / 10);
        }
        keeps(count);
        callsKeeps(count / 4); // replaces the first ones
        halves(count);
        Thread thread = new Thread(() -> keepsForOthers(count), "ending");
        thread.start();
        thread.join();
        waitsForLine();
        kept = null;
        waitsForLine();
        fills(count);
    }
}
