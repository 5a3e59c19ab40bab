// SPDX-License-Identifier: MIT
// Adds the probes of the lock monitor to a class.
package pitrace;

import java.util.Set;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Copies a class to a writer. */
final class LockClass extends ClassVisitor {
    private static final int MOST_SLOTS = 0xffff; // of a method's variables, and of its stack
    private static final int VERSION_MASK = 0xffff; // without the mark of preview features

    private final LockCode code;
    private final Set<String> tooLarge;
    private String owner;
    private boolean frames;
    private boolean hasClassConstants;

    /** tooLarge: methods, as NAME+DESCRIPTOR, that exceed the size of a method with probes. */
    LockClass(ClassVisitor next, LockCode code, Set<String> tooLarge) {
        super(Opcodes.ASM9, next);
        this.code = code;
        this.tooLarge = tooLarge;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        owner = name;
        frames = (version & VERSION_MASK) >= Opcodes.V1_6;
        hasClassConstants = (version & VERSION_MASK) >= Opcodes.V1_5;
        super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
        LockCode.Method method = code.methods.get(name + descriptor);
        if (method == null) {
            return next;
        }
        boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
        String whole = owner + "." + name + descriptor;
        String why = null;
        if (tooLarge.contains(name + descriptor)) {
            why = "too large for probes: a method has 64 KB at most";
        } else if (method.locals + LockProbes.MORE_LOCALS > MOST_SLOTS || method.stack + LockProbes.MORE_STACK > MOST_SLOTS) {
            why = "its variables or its stack are too large for probes";
        } else if (method.lockedBeforeSuper) {
            why = "it enters a monitor before its call of super()";
        } else if (method.isSynchronized && isStatic && !hasClassConstants) {
            why = "static and synchronized, of a class file of Java 1.4 or older";
        }
        if (why != null) {
            Methods.report(whole, why);
            return next;
        }
        return new LockProbes(next, method, Methods.add(whole), isStatic ? owner : null, frames);
    }
}
