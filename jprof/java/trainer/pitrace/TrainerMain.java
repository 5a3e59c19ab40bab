// SPDX-License-Identifier: MIT
// The trainer without probes, for an instruction trace of what its methods execute by themselves.
package pitrace;

/**
 * Calls the compiled methods of {@link Trainer}'s class for ever, and prints a line when the JVM has compiled them. Run it with {@code -Xbatch}
 * and {@code -XX:CompileCommand=dontinline,pitrace.Trained::*}.
 */
public final class TrainerMain {
    // Of HotSpot: the last compilation of a method follows after some 15,000 calls.
    private static final int ROUNDS = 40_000;

    private TrainerMain() {}

    public static void main(String[] args) {
        Trained trained = new Trained();
        for (int i = 0; i < ROUNDS; i++) {
            call(trained);
        }
        System.out.println("ready");
        while (true) {
            call(trained);
        }
    }

    private static void call(Trained trained) {
        trained.root2();
        Trained.root3(trained);
    }
}
