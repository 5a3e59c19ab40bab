// SPDX-License-Identifier: MIT
// Java and C that call each other, with known numbers of calls: tests/cli/jprof_c.bats. The C functions are those of mixed.c.
// Arguments: that library, and what to do.
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

public class Mixed {
    static native int down(int n);

    static native int catches(int n);

    static native int raises(int depth);

    static native int leaves(int n);

    native int object(int n);

    static int up(int n) {
        return n == 0 ? 0 : 1 + down(n - 1);
    }

    static int fails(int n) {
        if (n % 2 == 1) {
            throw new IllegalStateException("in a callback");
        }
        return leaves(n);
    }

    int method(int n) {
        return n + 1;
    }

    static int measured() {
        int sum = down(3);
        sum += 100 * catches(4);
        try {
            raises(5);
        } catch (IllegalArgumentException e) {
            sum += 1000;
        }
        return sum + 10000 * new Mixed().object(2);
    }

    static void work(int n) {
        for (int i = 0; i < n; i++) {
            down(2);
        }
    }

    static void threads(int count, int n) throws InterruptedException {
        Thread[] all = new Thread[count];
        for (int i = 0; i < count; i++) {
            all[i] = new Thread(() -> work(n), "mixed-" + i);
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    // Loads the class again in a loader of its own, with a library of its own, and unloads both.
    static boolean plugin(String library) throws IOException, InterruptedException, ReflectiveOperationException {
        WeakReference<ClassLoader> loader = new WeakReference<>(load(library));
        for (int i = 0; i < 100 && isMapped(library); i++) {
            System.gc();
            Thread.sleep(20);
        }
        return loader.get() == null && !isMapped(library);
    }

    static ClassLoader load(String library) throws IOException, ReflectiveOperationException {
        URL classes = new File(System.getProperty("java.class.path")).toURI().toURL();
        URLClassLoader loader = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
        loader.loadClass("Mixed").getMethod("main", String[].class).invoke(null, (Object) new String[] {library, "plugin"});
        loader.close();
        return loader;
    }

    static boolean isMapped(String library) throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains(library);
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        switch (args[1]) {
            case "plugin":
                leaves(7);
                break;
            case "plugins":
                for (int i = 2; i < args.length; i++) {
                    System.out.println("unloaded " + plugin(args[i]));
                }
                break;
            case "phases":
                for (int input = System.in.read(); input >= 0; input = System.in.read()) {
                    if (input != '\n') {
                        down(input - '0');
                        System.out.println("done");
                    }
                }
                break;
            case "exit":
                leaves(-1);
                break;
            case "quick_exit":
                leaves(-2);
                break;
            case "child":
                System.out.println("child " + leaves(-3));
                down(4);
                break;
            default:
                for (int i = 1; i < Integer.parseInt(args[1]); i++) {
                    measured();
                }
                System.out.println("measured " + measured());
                threads(4, 100);
        }
    }
}
