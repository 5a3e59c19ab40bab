// SPDX-License-Identifier: MIT
// Calls whose numbers are known, of kinds that are hard for probes: native callbacks, methods and classes near their size
// limits, old class files, hidden classes, monitors, constructors, hundreds of threads, virtual threads. Argument: the
// library of calls_back.c. tests/cli/jprof_calls.bats, tests/long/jprof.bats
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

public class Programs {
    // ---- C that calls Java ----

    static native int callBack(int times);

    native int callObject(Programs other);

    static int called(int n) {
        return n + 1;
    }

    int calledObject(Programs other) {
        return other == this ? 1 : 2;
    }

    static void throwing() {
        throw new IllegalStateException("through C");
    }

    static int natives() {
        int sum = callBack(25);
        try {
            callBack(-1);
        } catch (IllegalStateException e) {
            sum += 1000;
        }
        Programs object = new Programs();
        return sum + object.callObject(object) + object.callObject(new Programs());
    }

    // ---- class files of ClassFiles.java ----

    static long call(Class<?> type, String method, int n) throws ReflectiveOperationException {
        Method found = type.getMethod(method, int.class);
        return (int) found.invoke(null, n);
    }

    static long generated() throws ReflectiveOperationException {
        Class<?> large = Class.forName("Large");
        long sum = call(large, "fits", 1) + call(large, "full", 2);
        sum += call(Class.forName("Constants"), "last", 3);
        for (int version = 46; version <= 50; version++) {
            Class<?> old = Class.forName("Old" + version);
            for (int i = 0; i < 3; i++) {
                sum += call(old, "subroutine", i);
            }
            try {
                call(old, "subroutine", -1);
            } catch (InvocationTargetException e) {
                sum += e.getCause() instanceof ArithmeticException ? 10000 : 0;
            }
        }
        return sum;
    }

    // ---- hidden classes ----

    public static class Hidden implements Supplier<Integer> {
        @Override
        public Integer get() {
            return shown();
        }
    }

    static int shown() {
        return 42;
    }

    static int hidden() throws IOException, ReflectiveOperationException {
        byte[] code;
        try (InputStream in = Programs.class.getResourceAsStream("Programs$Hidden.class")) {
            code = in.readAllBytes();
        }
        Class<?> type = MethodHandles.lookup().defineHiddenClass(code, true).lookupClass();
        Supplier<?> object = (Supplier<?>) type.getConstructor().newInstance();
        int sum = 0;
        for (int i = 0; i < 7; i++) {
            sum += (int) object.get();
        }
        return sum;
    }

    // ---- monitors ----

    static synchronized void locksClass(int n) {
        if (n == 0) {
            throw new IllegalStateException("locked");
        }
        locksClass(n - 1);
    }

    synchronized void locks(int n) {
        if (n > 0) {
            locks(n - 1);
        }
        throw new IllegalStateException("locked");
    }

    static boolean monitors() {
        Programs object = new Programs();
        int caught = 0;
        try {
            locksClass(4);
        } catch (IllegalStateException e) {
            caught++;
        }
        try {
            object.locks(4);
        } catch (IllegalStateException e) {
            caught++;
        }
        return caught == 2 && !Thread.holdsLock(object) && !Thread.holdsLock(Programs.class);
    }

    // ---- constructors ----

    static class Part {
        final int value;

        Part(int value) {
            this.value = value;
        }

        static Part of(int value) {
            if (value == 3) {
                throw new IllegalArgumentException("three");
            }
            return new Part(value);
        }
    }

    static class Whole {
        final int sum;

        Whole(Part first, int[] others, Supplier<Part> last) {
            int all = first.value;
            for (int other : others) {
                all += other;
            }
            sum = all + last.get().value;
        }
    }

    static class Composed extends Whole {
        final Composed inner;

        Composed(int n) {
            super(n % 2 == 0 ? new Part(n) : Part.of(n), new int[] {n, new Part(n).value}, () -> Part.of(n + 1));
            inner = null;
        }

        Composed(String text) {
            this(text.isEmpty() ? null : new Composed(text.length()), text);
        }

        private Composed(Composed inner, String text) {
            super(new Part(inner == null ? 0 : inner.sum), new int[0], () -> new Part(text.length()));
            this.inner = inner;
        }
    }

    static int constructors() {
        int sum = 0;
        for (int i = 0; i < 6; i++) {
            try {
                sum += new Composed(i).sum;
            } catch (IllegalArgumentException e) {
                sum += 1000;
            }
        }
        return sum + new Composed("four").inner.sum + new Composed("").sum;
    }

    // ---- threads ----

    static void work(AtomicInteger counter) {
        counter.incrementAndGet();
    }

    static int threads(int count) throws InterruptedException {
        AtomicInteger counter = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(new Thread(() -> work(counter), "many-" + i));
        }
        for (Thread thread : all) {
            thread.start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        return counter.get();
    }

    static void virtualWork(AtomicInteger counter) {
        counter.incrementAndGet();
        Thread.yield();
        counter.incrementAndGet();
    }

    // Compiled with JDK 17, too. In that version there are none: the result is the same.
    static int virtualThreads() throws ReflectiveOperationException, InterruptedException {
        AtomicInteger counter = new AtomicInteger();
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return 40;
        }
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Runnable task = () -> virtualWork(counter);
            all.add((Thread) start.invoke(null, task));
        }
        for (Thread thread : all) {
            thread.join();
        }
        return counter.get();
    }

    static void measured() throws IOException, ReflectiveOperationException {
        System.out.println("natives " + natives());
        System.out.println("generated " + generated());
        System.out.println("hidden " + hidden());
        System.out.println("monitors " + monitors());
        System.out.println("constructors " + constructors());
    }

    @SuppressWarnings("restricted") // System.load(), as of JDK 24
    public static void main(String[] args) throws IOException, ReflectiveOperationException, InterruptedException {
        System.load(args[0]);
        measured();
        System.out.println("threads " + threads(300));
        System.out.println("virtual " + virtualThreads());
    }
}
