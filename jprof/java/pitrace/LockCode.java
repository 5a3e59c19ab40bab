// SPDX-License-Identifier: MIT
// What the methods of a class have for probes of the lock monitor.
package pitrace;

import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Reads a class. */
final class LockCode extends ClassVisitor {
    /** Of one method. */
    static final class Method {
        final boolean isSynchronized;
        int places; // monitorenter and monitorexit
        int waits;
        int locals;
        int stack;
        boolean lockedBeforeSuper; // a constructor enters a monitor before it has called super()

        Method(boolean isSynchronized) {
            this.isSynchronized = isSynchronized;
        }
    }

    private static final int LOCKING_NATIVE = Opcodes.ACC_NATIVE | Opcodes.ACC_SYNCHRONIZED;

    final Map<String, Method> methods = new HashMap<>(); // those that need probes, by NAME+DESCRIPTOR
    private String owner;

    LockCode() {
        super(Opcodes.ASM9);
    }

    /** Whether this is a call of Object.wait, which no class can override. */
    static boolean isWait(int opcode, String name, String descriptor) {
        return name.equals("wait")
                && (opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKESPECIAL)
                && (descriptor.equals("()V") || descriptor.equals("(J)V") || descriptor.equals("(JI)V"));
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        owner = name;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        if ((access & LOCKING_NATIVE) == LOCKING_NATIVE) {
            Methods.report(owner + "." + name + descriptor, "native and synchronized");
        }
        if ((access & (Opcodes.ACC_NATIVE | Opcodes.ACC_ABSTRACT)) != 0) {
            return null;
        }
        // The JVM ignores this flag of an initialiser of a class.
        Method method = new Method((access & Opcodes.ACC_SYNCHRONIZED) != 0 && !name.equals("<clinit>"));
        return new MethodVisitor(Opcodes.ASM9) {
            private boolean superCalled = !name.equals("<init>");
            private int created;

            @Override
            public void visitInsn(int opcode) {
                if (opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT) {
                    method.places++;
                    method.lockedBeforeSuper |= !superCalled;
                }
            }

            @Override
            public void visitTypeInsn(int opcode, String type) {
                created += opcode == Opcodes.NEW ? 1 : 0;
            }

            @Override
            public void visitMethodInsn(int opcode, String type, String called, String type2, boolean isInterface) {
                if (opcode == Opcodes.INVOKESPECIAL && called.equals("<init>")) {
                    superCalled |= created == 0;
                    created--;
                }
                method.waits += isWait(opcode, called, type2) ? 1 : 0;
            }

            @Override
            public void visitMaxs(int maxStack, int maxLocals) {
                method.locals = maxLocals;
                method.stack = maxStack;
                if (method.isSynchronized || method.places + method.waits > 0) {
                    methods.put(name + descriptor, method);
                }
            }
        };
    }
}
