// SPDX-License-Identifier: MIT
// Adds probes to a class file.
package pitrace;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassTooLargeException;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;

/** The agent calls {@link #transform} for each class file, and {@link #trainer} once. Must not use invokedynamic, whose linkage runs other Java code. */
final class Transformer {
    private Transformer() {}

    /**
     * Returns the class file with probes, or null if it stays as it is.
     *
     * @param name the JVM's, for reports on class files that cannot be read
     * @param mayAddMethods as while the class is loaded: native methods can get probes
     * @param locks with probes of the lock monitor instead of those of calls
     */
    static byte[] transform(String name, byte[] classFile, boolean mayAddMethods, boolean locks) {
        try {
            ClassReader reader = new ClassReader(classFile);
            name = reader.getClassName();
            return locks ? transformLocks(reader) : transform(reader, mayAddMethods);
        } catch (ClassTooLargeException e) {
            Methods.report(name, "it has too many constants for probes");
        } catch (IllegalArgumentException e) { // ASM's exception for a version that it does not know
            Methods.report(name, "this JProf's ASM cannot read it: " + e.getMessage());
        } catch (Throwable e) {
            Methods.report(name, "the transformer failed: " + e);
        }
        return null;
    }

    /** Returns the class file of {@link Trainer} with probes. */
    static byte[] trainer(boolean inlined) {
        return transform(new ClassReader(Trainer.classFile(inlined)), true);
    }

    private static byte[] transform(ClassReader reader, boolean mayAddMethods) {
        NativeMethods natives = new NativeMethods(reader, mayAddMethods);
        Set<String> tooLarge = new HashSet<>();
        while (true) {
            ClassWriter writer = new ClassWriter(reader, 0);
            ClassProbes probes = new ClassProbes(writer, natives, tooLarge);
            reader.accept(probes, 0);
            try {
                return probes.count() == 0 ? null : writer.toByteArray();
            } catch (MethodTooLargeException e) {
                tooLarge.add(e.getMethodName() + e.getDescriptor());
            }
        }
    }

    private static byte[] transformLocks(ClassReader reader) {
        LockCode code = new LockCode();
        reader.accept(code, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        if (code.methods.isEmpty()) {
            return null;
        }
        Set<String> tooLarge = new HashSet<>();
        while (true) {
            ClassWriter writer = new ClassWriter(reader, 0);
            reader.accept(new LockClass(writer, code, tooLarge), 0); // reports those that are too large
            if (code.methods.size() == tooLarge.size()) {
                return null;
            }
            try {
                return writer.toByteArray();
            } catch (MethodTooLargeException e) {
                tooLarge.add(e.getMethodName() + e.getDescriptor());
            }
        }
    }
}
