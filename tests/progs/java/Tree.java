// SPDX-License-Identifier: MIT
// The call tree of tests/progs/calls.c in Java, to be interpreted (-Xint): alpha is behind an
// interface, beta gets a lambda. Usage: Tree SECONDS of processor time, beside the JVM's start.
public class Tree {
    private static final int UNIT = 500;

    interface Part {
        void alpha(int percent);
    }

    interface Call {
        void call(int percent);
    }

    static class Own implements Part {
        @Override
        public void alpha(int percent) {
            Tree.shared(percent);
            for (int rounds = percent * UNIT; rounds > 0; rounds--) {
            }
        }
    }

    static void shared(int percent) {
        for (int rounds = percent * UNIT; rounds > 0; rounds--) {
        }
    }

    static void beta(Call call, int percent) {
        for (int rounds = percent * UNIT; rounds > 0; rounds--) {
        }
        call.call(percent);
    }

    static void recurse(int levels) {
        for (int rounds = 10 * UNIT; rounds > 0; rounds--) {
        }
        if (levels > 1) {
            recurse(levels - 1);
        }
    }

    static void work(Part part) {
        part.alpha(10);
        beta(percent -> shared(percent), 20);
        recurse(4);
    }

    public static void main(String[] args) {
        long end = processorTime() + (long) (Double.parseDouble(args[0]) * 1000);
        Part part = new Own();
        do {
            for (int i = 0; i < 50; i++) {
                work(part);
            }
        } while (processorTime() < end);
    }

    private static long processorTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
    }
}
