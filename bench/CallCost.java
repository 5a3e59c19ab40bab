// SPDX-License-Identifier: MIT
// What a call of a Java method costs with JProf's probes, in processor time of the calling thread: bench/calls.sh. Arguments: how often
// the empty method is called, how many words are counted, and how often each is repeated; the fastest repetition counts.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;

public class CallCost {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int DIFFERENT_WORDS = 1000;
    private static int calls;
    private static int words;
    private static long sink;

    static void leaf() {
        sink++;
    }

    static void leaves() {
        for (int i = 0; i < calls; i++) {
            leaf();
        }
    }

    // Methods of String, StringBuilder, HashMap and Integer, about forty calls a word.
    static void countWords() {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < words; i++) {
            String word = new StringBuilder().append("word ").append(i % DIFFERENT_WORDS).toString().substring(1);
            Integer before = counts.get(word);
            counts.put(word, before == null ? 1 : before + 1);
        }
        sink += counts.size();
    }

    static double fastest(Runnable work, int repetitions, int count) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < repetitions; i++) {
            long begin = THREADS.getCurrentThreadCpuTime();
            work.run();
            least = Math.min(least, THREADS.getCurrentThreadCpuTime() - begin);
        }
        return (double) least / count;
    }

    public static void main(String[] args) {
        calls = Integer.parseInt(args[0]);
        words = Integer.parseInt(args[1]);
        int repetitions = Integer.parseInt(args[2]);
        System.out.printf("%8.1f ns a call ", fastest(CallCost::leaves, repetitions, calls));
        System.out.printf("%8.1f ns a word%n", fastest(CallCost::countWords, repetitions, words));
    }
}
