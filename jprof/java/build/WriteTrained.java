// SPDX-License-Identifier: MIT
// At build time: writes the trainer's class file, without probes.
package pitrace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** {@code pitrace.WriteTrained OUTPUT}. */
public final class WriteTrained {
    private WriteTrained() {}

    public static void main(String[] args) throws IOException {
        Files.write(Path.of(args[0]), Trainer.classFile(true));
    }
}
