// SPDX-License-Identifier: MIT
// Leaves that do nothing or little, for tests of calibration. Argument: how often each is called.

public final class Leaves {
    private static int sum;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        Leaves object = new Leaves();
        for (int i = 0; i < rounds; i++) {
            nothing();
            object.nothingEither();
            add(i);
        }
        System.out.println(sum);
    }

    private static void nothing() {}

    private void nothingEither() {}

    private static void add(int i) {
        sum += i;
    }
}
