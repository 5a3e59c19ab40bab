// SPDX-License-Identifier: MIT
// What a method costs its thread, summed over many calls, and a record of each call in a trace.
//   javac -cp JPerf.jar Measure.java && java -cp JPerf.jar:. Measure
// Since Java 24 the JVM warns of native libraries, unless java gets --enable-native-access=ALL-UNNAMED.
import jperf.Hooks;
import jperf.PerfException;
import jperf.Ptt;

public final class Measure {
    private static final int MAJOR = 0x70; // of this application's records
    private static final int BEGIN = 1;
    private static final int END = 2;

    private static double work() {
        double sum = 0;
        for (int i = 1; i <= 1000; i++) {
            sum += 1.0 / i;
        }
        return sum;
    }

    public static void main(String[] words) {
        int calls = 100;
        double sum = 0;
        try (Ptt ptt = Ptt.begin("CYCLES"); Ptt.Counter counter = ptt.thread()) {
            long[] totals = new long[1];
            for (int i = 0; i < calls; i++) {
                try (Hooks.Region record = Hooks.region(MAJOR, BEGIN, END, i); Ptt.Region region = counter.region(totals)) {
                    sum += work();
                }
            }
            System.out.printf("%d calls gave %.3f and took %d %s of this thread%n", calls, sum, totals[0], ptt.units().get(0));
            if (!ptt.cannotSeparate().isEmpty()) {
                System.out.println("Included: " + ptt.cannotSeparate());
            }
        } catch (PerfException unavailable) {
            System.err.println("Measure: " + unavailable.getMessage());
            System.exit(1);
        }
    }
}
