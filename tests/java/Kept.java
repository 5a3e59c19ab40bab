// SPDX-License-Identifier: MIT
// Leaves whose arguments and results are kept across the probes of their entry and exit, beside some that keep nothing, for tests of
// calibration. Argument: how often each is called.

public final class Kept {
    private static final Kept OBJECT = new Kept();
    private static int sum;
    private static int second;
    private static int third;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++) {
            round(i);
        }
        System.out.println(sum + second + third);
    }

    private static void round(int i) {
        nothing();
        OBJECT.nothingEither();
        count();
        add(i);
        sum += mix(i, i + 1);
        sum += read();
        share(i, i + 1, i + 2);
    }

    private static void nothing() {}

    private void nothingEither() {}

    private static void count() {
        sum++;
    }

    private static void add(int i) {
        sum += i;
    }

    private static int mix(int a, int b) {
        return a * 1103515245 + b;
    }

    private static int read() {
        return sum;
    }

    private static void share(int a, int b, int c) {
        sum += a;
        second += b;
        third += c;
    }
}
