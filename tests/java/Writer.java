// SPDX-License-Identifier: MIT
// Writes single bytes to /dev/null for ever, by a method of its own. Prints "ready" when that method has been compiled.
import java.io.FileOutputStream;
import java.io.IOException;

public class Writer {
    static void put(FileOutputStream file, int n) throws IOException {
        for (int i = 0; i < n; i++) {
            file.write(i);
        }
    }

    public static void main(String[] args) throws IOException {
        try (FileOutputStream file = new FileOutputStream("/dev/null")) {
            for (int i = 0; i < 2000; i++) {
                put(file, 50);
            }
            System.out.println("ready");
            while (true) {
                put(file, 50);
            }
        }
    }
}
