// SPDX-License-Identifier: MIT
// Calls whose numbers are known, of many kinds: tests/cli/jprof_calls.bats. Arguments: how often, and how to end.
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;

public class Calls {
    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static boolean isEven(int n) {
        return n == 0 || isOdd(n - 1);
    }

    static boolean isOdd(int n) {
        return n != 0 && isEven(n - 1);
    }

    static void fail(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("failed");
        }
        fail(depth - 1);
    }

    static int catches(int n) {
        int caught = 0;
        for (int i = 0; i < n; i++) {
            try {
                fail(5);
            } catch (IllegalStateException e) {
                caught++;
                after();
            }
        }
        return caught;
    }

    static void after() {}

    static class Base {
        Base(int n) {
            if (n < 0) {
                throw new IllegalArgumentException("negative");
            }
        }
    }

    static class Derived extends Base {
        static final int START = start();

        static int start() {
            return 8;
        }

        Derived(int n) {
            super(check(n) ? n : -n);
        }

        Derived() {
            this(START);
        }

        static boolean check(int n) {
            if (n == 13) {
                throw new IllegalArgumentException("thirteen");
            }
            return n % 2 == 0;
        }
    }

    // Constructors that end before, in and after super().
    static int constructors(int n) {
        int failed = 0;
        for (int i = 0; i < n; i++) {
            try {
                new Derived(i);
            } catch (IllegalArgumentException e) {
                failed++;
                after();
            }
        }
        new Derived();
        return failed;
    }

    interface Shape<T extends Number> {
        T area();

        default double twice() {
            return 2 * area().doubleValue();
        }
    }

    static class Square implements Shape<Integer> {
        public Integer area() {
            return 4;
        }
    }

    static double generics(int n) {
        double sum = 0;
        Shape<Integer> shape = new Square();
        for (int i = 0; i < n; i++) {
            sum += shape.twice();
        }
        return sum;
    }

    static int lambdas(int n) {
        IntUnaryOperator add = x -> x + 1;
        IntUnaryOperator times = Calls::twice;
        int x = 0;
        for (int i = 0; i < n; i++) {
            x = times.applyAsInt(add.applyAsInt(x)) & 0xff;
        }
        return x;
    }

    static int twice(int x) {
        return 2 * x;
    }

    synchronized int locked(int n) {
        return n == 0 ? 0 : 1 + locked(n - 1);
    }

    static int deepest;

    static void deep(int depth) {
        deepest = depth;
        deep(depth + 1);
    }

    static boolean overflows() {
        try {
            deep(0);
            return false;
        } catch (StackOverflowError e) {
            return deepest > 100;
        }
    }

    static void work(int n) {
        for (int i = 0; i < n; i++) {
            after();
        }
    }

    static void threads(int count, int n) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(new Thread(() -> work(n), "worker-" + i));
        }
        for (Thread thread : all) {
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    static long collections(int n) {
        TreeMap<String, Integer> map = new TreeMap<>(Comparator.reverseOrder());
        for (int i = 0; i < n; i++) {
            map.merge("key" + i % 10, i, Integer::sum);
        }
        StringBuilder text = new StringBuilder();
        map.forEach((key, value) -> text.append(key).append(value));
        return text.toString().hashCode();
    }

    static void measured() {
        System.out.println("fibonacci " + fibonacci(15));
        System.out.println("even " + isEven(20));
        System.out.println("caught " + catches(10));
        System.out.println("constructors " + constructors(20));
        System.out.println("generics " + generics(10));
        System.out.println("lambdas " + lambdas(100));
        System.out.println("locked " + new Calls().locked(10));
        System.out.println("collections " + collections(200));
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 1; i < Integer.parseInt(args[0]); i++) {
            measured();
        }
        second();
        System.out.println("overflow " + overflows());
        threads(8, 1000);
        if (args.length > 1 && args[1].equals("exit")) {
            System.exit(3);
        }
        if (args.length > 1 && args[1].equals("wait")) {
            System.out.println("ready");
            Thread.sleep(1000000);
        }
        if (args.length > 1 && args[1].equals("throw")) {
            throw new IllegalStateException("the last exception");
        }
    }

    static void second() {
        measured();
    }
}
