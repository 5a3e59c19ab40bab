// SPDX-License-Identifier: MIT
// A tree of calls that is the same in each round, for comparing the events of log-gen with an instruction trace. Argument: rounds.

public final class Trees {
    private static int sum;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i += 10) {
            ten(i);
        }
        System.out.println(sum);
    }

    private static void ten(int i) {
        for (int k = 0; k < 10; k++) {
            tree(i + k);
        }
    }

    private static void tree(int i) {
        branch(i);
        leaf();
        branch(i + 1);
    }

    // Each step needs the one before.
    private static void branch(int i) {
        int x = i;
        for (int k = 0; k < 40; k++) {
            x = x * 1103515245 + 12345;
        }
        sum += x;
        leaf();
    }

    private static void leaf() {
        sum++;
    }
}
