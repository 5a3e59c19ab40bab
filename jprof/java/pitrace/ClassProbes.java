// SPDX-License-Identifier: MIT
// Adds probes to the methods of a class.
package pitrace;

import java.util.Set;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Copies a class to a writer. */
final class ClassProbes extends ClassVisitor {
    private static final int VERSION_MASK = 0xffff; // without the mark of preview features
    private static final int ACCESS_OF_WRAPPED =
            Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC | Opcodes.ACC_NATIVE;

    private final NativeMethods natives;
    private final Set<String> tooLarge;
    private String owner;
    private String superOwner;
    private boolean frames;
    private int count;

    /** tooLarge: methods, as NAME+DESCRIPTOR, that exceed the size of a method with probes. */
    ClassProbes(ClassVisitor next, NativeMethods natives, Set<String> tooLarge) {
        super(Opcodes.ASM9, next);
        this.natives = natives;
        this.tooLarge = tooLarge;
    }

    /** The number of methods with probes. */
    int count() {
        return count;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        owner = name;
        superOwner = superName;
        frames = (version & VERSION_MASK) >= Opcodes.V1_6;
        super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        String method = owner + "." + name + descriptor;
        boolean isNative = (access & Opcodes.ACC_NATIVE) != 0;
        String why = null;
        if (tooLarge.contains(name + descriptor)) {
            why = "too large for probes: a method has 64 KB at most";
        } else if (superOwner == null && name.equals("<init>")) {
            why = "the JVM treats it specially"; // a compiler of JDK 17 crashes if this method has a handler
        } else if (isNative) {
            why = natives.whyNot(name + descriptor);
        }
        if (why != null) {
            Methods.report(method, why);
        }
        if (why != null || (access & Opcodes.ACC_ABSTRACT) != 0) {
            return super.visitMethod(access, name, descriptor, signature, exceptions);
        }
        count++;
        MethodVisitor next = super.visitMethod(access & ~Opcodes.ACC_NATIVE, name, descriptor, signature, exceptions);
        int id = idOf(method, access);
        if (isNative) {
            String wrapped = NativeMethods.PREFIX + name;
            int wrappedAccess = ACCESS_OF_WRAPPED | access & Opcodes.ACC_STATIC;
            super.visitMethod(wrappedAccess, wrapped, descriptor, null, exceptions).visitEnd();
            return new NativeWrapper(new MethodProbes(next, method, id, frames), access, owner, wrapped, descriptor);
        }
        return name.equals("<init>")
                ? new ConstructorProbes(next, method, id, frames, owner, superOwner)
                : new MethodProbes(next, method, id, frames);
    }

    private static int idOf(String method, int access) {
        int id = Methods.add(method) << Methods.KIND_BITS;
        if ((access & Opcodes.ACC_STATIC) != 0) {
            id |= Methods.STATIC;
        }
        if ((access & Opcodes.ACC_NATIVE) != 0) {
            id |= Methods.NATIVE;
        }
        return id;
    }
}
