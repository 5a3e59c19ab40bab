// SPDX-License-Identifier: MIT
/** Runs many virtual threads: each works, sleeps, and works again. Needs JDK 21. */
public class VirtualThreads {
    static volatile long sink;

    /** The work of one turn, in a method of its own so that ticks find it. */
    static long spin(int turns) {
        long value = turns;
        for (int i = 0; i < turns; i++) value = value * 1103515245 + 12345;
        return value;
    }

    /** Arguments: threads, rounds of each, turns of work in a round, prefix of their names (optional). */
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]), turns = Integer.parseInt(args[2]);
        long began = System.nanoTime();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            Thread.Builder.OfVirtual builder = Thread.ofVirtual();
            if (args.length > 3) builder = builder.name(args[3] + i);
            all[i] = builder.start(() -> {
                for (int round = 0; round < rounds; round++) {
                    sink += spin(turns);
                    if (round % 2 == 0) Thread.yield();
                    else try { Thread.sleep(1); } catch (InterruptedException e) { return; }
                }
            });
        }
        for (Thread thread : all) thread.join();
        System.out.printf("%d virtual threads, %d rounds each: %.2f s%n", threads, rounds, (System.nanoTime() - began) / 1e9);
    }
}
