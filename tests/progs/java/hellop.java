// SPDX-License-Identifier: MIT
// The classic example hellop: main calls myA in a loop, myA calls myC and prints.
public class hellop {
    static int state = 1;

    static int myC(int rounds) {
        for (int i = 0; i < rounds; ++i) state = state * 1103515245 + 12345;
        return state;
    }

    static int myA(int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; ++i) sum += (sum << 3) ^ i;
        return sum + myC(3 * rounds);
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + 1_000_000L * Long.parseLong(arguments[0]);
        int calls = 0, sum = 0;
        while (System.nanoTime() < end) {
            sum += myA(20_000);
            if (++calls % 500 == 0) System.out.println("hello " + calls + " " + sum);
        }
    }
}
