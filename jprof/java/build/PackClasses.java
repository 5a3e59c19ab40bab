// SPDX-License-Identifier: MIT
// At build time: writes a class and all classes that it needs from a jar and a folder into one file.
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.objectweb.asm.ClassReader;

/**
 * {@code PackClasses JAR FOLDER CLASS OUTPUT}. For each class the output has its length in 4 bytes, the most significant first, and
 * its class file. Super classes precede their sub classes, so that a class loader can define the classes in this order.
 */
public final class PackClasses {
    private static final int CONSTANT_CLASS = 7;

    private final ZipFile jar;
    private final Path folder;
    private final Map<String, byte[]> packed = new LinkedHashMap<>();

    private PackClasses(ZipFile jar, Path folder) {
        this.jar = jar;
        this.folder = folder;
    }

    public static void main(String[] args) throws IOException {
        try (ZipFile jar = new ZipFile(args[0]);
                DataOutputStream out = new DataOutputStream(Files.newOutputStream(Path.of(args[3])))) {
            PackClasses classes = new PackClasses(jar, Path.of(args[1]));
            TreeSet<String> missing = new TreeSet<>();
            missing.add(args[2]);
            while (!missing.isEmpty()) {
                classes.add(missing.pollFirst(), missing);
            }
            for (byte[] code : classes.packed.values()) {
                out.writeInt(code.length);
                out.write(code);
            }
        }
    }

    // Adds a class after its super classes; adds the classes that it mentions to mentioned.
    private void add(String name, TreeSet<String> mentioned) throws IOException {
        byte[] code = packed.containsKey(name) ? null : read(name + ".class");
        if (code == null) {
            return;
        }
        ClassReader reader = new ClassReader(code);
        add(reader.getSuperName(), mentioned);
        for (String type : reader.getInterfaces()) {
            add(type, mentioned);
        }
        packed.put(name, code);
        char[] buffer = new char[reader.getMaxStringLength()];
        for (int i = 1; i < reader.getItemCount(); i++) {
            int item = reader.getItem(i);
            if (item != 0 && reader.readByte(item - 1) == CONSTANT_CLASS) {
                mentioned.add(reader.readUTF8(item, buffer));
            }
        }
    }

    // Null for the JDK's classes.
    private byte[] read(String file) throws IOException {
        Path own = folder.resolve(file);
        if (Files.exists(own)) {
            return Files.readAllBytes(own);
        }
        ZipEntry entry = jar.getEntry(file);
        if (entry == null) {
            return null;
        }
        try (InputStream in = jar.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }
}
