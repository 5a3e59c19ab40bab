// SPDX-License-Identifier: MIT
// Which native methods of a class get probes.
package pitrace;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A native method has no code. It is renamed, and a method with its name and probes calls it. The JVM finds its code without the
 * prefix (SetNativeMethodPrefix of JVMTI). Methods can only be added to a class while it is loaded.
 */
final class NativeMethods extends ClassVisitor {
    static final String PREFIX = "$pitrace$";

    // The JVM looks for the code of a renamed method with the native methods of these classes.
    private static final String LOADER = "jdk/internal/loader/";

    private static final int LONGEST_NAME = 65535; // in bytes, of a class file

    private final boolean mayAddMethods;
    private final boolean findsNatives;
    private final Map<String, String> reasons = new HashMap<>();
    private final Set<String> methods = new HashSet<>(); // as NAME+DESCRIPTOR

    NativeMethods(ClassReader reader, boolean mayAddMethods) {
        super(Opcodes.ASM9);
        this.mayAddMethods = mayAddMethods;
        this.findsNatives = reader.getClassName().startsWith(LOADER);
        if (mayAddMethods) {
            reader.accept(this, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
        }
    }

    /** Why this method, as NAME+DESCRIPTOR, gets no probes; or null. */
    String whyNot(String method) {
        if (findsNatives) {
            return "native, and the JVM finds native methods with it";
        }
        if (methods.contains(PREFIX + method)) {
            return "native, and the class has a method with the name that it would get";
        }
        if (bytesOf(method.substring(0, method.indexOf('('))) > LONGEST_NAME - PREFIX.length()) {
            return "native, and the name that it would get is too long";
        }
        return mayAddMethods ? reasons.get(method) : "native, and its class was loaded before the probes were ready";
    }

    /** In a class file. */
    private static int bytesOf(String name) {
        int bytes = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            bytes += c > 0 && c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
        }
        return bytes;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        methods.add(name + descriptor);
        if ((access & Opcodes.ACC_NATIVE) == 0) {
            return null;
        }
        return new MethodVisitor(Opcodes.ASM9) {
            @Override
            public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
                String why = reasonIn(annotation);
                if (why != null) {
                    reasons.put(name + descriptor, why);
                }
                return null;
            }
        };
    }

    private static String reasonIn(String annotation) {
        if (annotation.endsWith("/CallerSensitive;")) {
            return "native, and depends on its caller";
        }
        if (annotation.endsWith("/PolymorphicSignature;") || MethodProbes.marksIntrinsic(annotation)) {
            return "native, and the JVM treats it specially";
        }
        return null;
    }
}
