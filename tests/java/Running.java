// SPDX-License-Identifier: MIT
// Methods that are running when a recording starts, in two threads: main in a recursion that returns, another one in a
// recursion that ends by an exception. Prints "ready" when both wait, and goes on when standard input has a line.
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

public class Running {
    static void step() {}

    static int down(int depth, CountDownLatch waiting) throws IOException, InterruptedException {
        if (depth == 0) {
            waiting.await();
            System.out.println("ready");
            return System.in.read();
        }
        int result = down(depth - 1, waiting) + depth;
        step();
        return result;
    }

    static void fail(int depth, CountDownLatch waiting, CountDownLatch end) throws InterruptedException {
        if (depth == 0) {
            waiting.countDown();
            end.await();
            throw new IllegalStateException("failed");
        }
        fail(depth - 1, waiting, end);
    }

    static void other(CountDownLatch waiting, CountDownLatch end) {
        try {
            fail(3, waiting, end);
        } catch (IllegalStateException | InterruptedException e) {
            step();
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        CountDownLatch waiting = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread other = new Thread(() -> other(waiting, end), "other");
        other.start();
        System.out.println(down(5, waiting));
        end.countDown();
        other.join();
        step();
    }
}
