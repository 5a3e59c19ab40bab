// SPDX-License-Identifier: MIT
// The same work again and again, 45 frames deep, for scs.sh: prints when each repetition ended and its processor time.
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

public final class ScsCost {
    private static final byte[] DATA = new byte[200_000];

    private ScsCost() {
    }

    private static long work(int depth) {
        if (depth > 0) {
            return work(depth - 1) + 1;
        }
        Map<String, Integer> words = new HashMap<>();
        for (int i = 0; i < 8000; i++) {
            words.merge("word" + i % 1000, i, Integer::sum);
        }
        // A third of the time is in libzip.
        Deflater deflater = new Deflater(1);
        deflater.setInput(DATA);
        deflater.finish();
        byte[] out = new byte[DATA.length];
        long size = deflater.deflate(out);
        deflater.end();
        CRC32 sum = new CRC32();
        sum.update(out, 0, (int) size);
        return words.size() + sum.getValue();
    }

    public static void main(String[] args) {
        for (int i = 0; i < DATA.length; i++) {
            DATA[i] = (byte) (i * i % 251 * (i % 7));
        }
        long end = System.currentTimeMillis() + 1000 * Long.parseLong(args[0]);
        var threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        while (System.currentTimeMillis() < end) {
            long before = threads.getCurrentThreadCpuTime();
            sum += work(40);
            System.out.println(System.currentTimeMillis() + " " + (threads.getCurrentThreadCpuTime() - before));
        }
        System.err.println(sum);
    }
}
