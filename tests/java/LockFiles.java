// SPDX-License-Identifier: MIT
// Locks that need care: prints "gets CLASS NUMBER" for each class of monitors. Argument: the directory of ClassFiles' classes.
import java.nio.file.Files;
import java.nio.file.Path;

public class LockFiles {
    /** Defines classes without telling the JVM their names. */
    private static final class Loader extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass(null, code, 0, code.length);
        }
    }

    public static void main(String[] args) throws Exception {
        for (String name : new String[] {"LockUsual", "LockInitialiser", "LockVariables", "LockPlaces"}) {
            Class<?> type = new Loader().define(Files.readAllBytes(Path.of(args[0], name + ".class")));
            Object gets = type.getMethod("run", int.class).invoke(null, 5);
            System.out.println("gets " + name + ".class " + gets);
        }
        // More objects than the heap has place for, if each stayed in a table.
        int gets = 300_000;
        for (int i = 0; i < gets; i++) {
            new StringBuffer().append(i);
        }
        System.out.println("gets java.lang.StringBuffer " + gets);
    }
}
