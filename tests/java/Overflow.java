// SPDX-License-Identifier: MIT
// Overflows the stack by random recursion, with handlers that call further methods where the stack is nearly full. Prints how
// often mark() was called and the sum of the depths at which it was.
public class Overflow {
    private static long marks;
    private static long depths;
    private static long deepest;
    private static int random;
    private static int overflows;

    static int next() {
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        return random;
    }

    // depth: that of the caller. Called from main() it is -1.
    static void mark(int depth) {
        marks++;
        depths += depth;
    }

    static int call(int depth) {
        if (overflows == 0) {
            return 0;
        }
        switch (random & 3) {
            case 0:
                return ends(depth + 1);
            case 1:
                return throwsAgain(depth + 1, 1, 2, 3);
            case 2:
                return (int) leaves(depth + 1, 1.0);
            default:
                return repeats(depth + 1, "x", "y", "z");
        }
    }

    static int ends(int depth) {
        try {
            return 1 + call(depth + 1);
        } catch (StackOverflowError e) {
            overflows--;
            mark(depth);
            return 0;
        }
    }

    static int throwsAgain(int depth, long x, long y, long z) {
        next();
        long sum = x * y + y * z;
        try {
            return (int) (sum + call(depth + 1));
        } catch (StackOverflowError e) {
            overflows--;
            if ((next() & 1) == 0) {
                mark(depth);
                return call(depth + 1);
            }
            throw e;
        }
    }

    static double leaves(int depth, double x) {
        next();
        return x + call(depth + 1);
    }

    static int repeats(int depth, String x, String y, String z) {
        next();
        int sum = x.length() + y.length() + z.length();
        for (int i = 0; i < 2 && overflows > 0; i++) {
            try {
                sum += call(depth + 1);
            } catch (StackOverflowError e) {
                overflows--;
                mark(depth);
            } finally {
                sum++;
            }
        }
        return sum;
    }

    static void deep() {
        deepest++;
        deep();
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++) {
            random = 12345 + i * 77;
            overflows = 60;
            try {
                call(0);
            } catch (StackOverflowError e) {
                mark(-1);
            }
            mark(-1);
        }
        try {
            deep();
        } catch (StackOverflowError e) {
            System.out.println(e + " in " + e.getStackTrace()[0].getMethodName());
        }
        System.err.println(marks + " " + depths + " " + deepest);
    }
}
