// SPDX-License-Identifier: MIT
// Loads a class in successive class loaders, each time with other method names, runs its methods until they are
// compiled, and drops the loader, so that methods are unloaded and others reuse their addresses. Ends after the given
// number of rounds, or when it is killed. Prints "round N" periodically.
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

public class Replace {
    public static class Work {
        static long step_00000(long x, int kind) {
            return switch (kind & 3) {
                case 0 -> x * 3 + 1;
                case 1 -> x ^ (x << 5);
                case 2 -> Long.rotateLeft(x, 11);
                default -> x - 7;
            };
        }

        public static long work_00000(int n) {
            long x = n;
            for (int i = 0; i < n; i++) {
                x = step_00000(x, i);
            }
            return x;
        }
    }

    static class Loader extends ClassLoader {
        private final byte[] code;

        Loader(byte[] code) {
            super(null);
            this.code = code;
        }

        Class<?> define() {
            return defineClass("Replace$Work", code, 0, code.length);
        }
    }

    // Returns the class file with "_00000" in its method names replaced by number.
    static byte[] numbered(byte[] code, String number) {
        String text = new String(code, StandardCharsets.ISO_8859_1);
        return text.replace("_00000", number).getBytes(StandardCharsets.ISO_8859_1);
    }

    static long round(byte[] code, int round) throws ReflectiveOperationException {
        String number = String.format("_%05d", round % 100000);
        Method run = new Loader(numbered(code, number)).define().getMethod("work" + number, int.class);
        long sum = 0;
        for (int i = 0; i < 200; i++) {
            sum += (long) run.invoke(null, 1000);
        }
        return sum;
    }

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        byte[] code;
        try (InputStream in = Replace.class.getResourceAsStream("Replace$Work.class")) {
            code = in.readAllBytes();
        }
        int rounds = Integer.parseInt(args[0]);
        long sum = 0;
        for (int i = 1; i <= rounds; i++) {
            sum += round(code, i);
            if (i % 50 == 0) {
                System.gc();
                System.out.println("round " + i);
            }
        }
        System.out.println("sum " + sum);
    }
}
