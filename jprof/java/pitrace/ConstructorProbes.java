// SPDX-License-Identifier: MIT
// Adds the probes of a constructor.
package pitrace;

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A constructor begins with its first instruction, so the constructor of the super class is its callee. {@code this} has another
 * type before the call of {@code super()} or {@code this()} than after it, so each part gets a handler of its own. The JVM allows
 * none for the call itself: an exception in it is noticed at the next exit of a caller. If it is not certain which call that is,
 * as when an object of the same class was created before, or if there are several, the constructor gets no handler.
 */
final class ConstructorProbes extends MethodProbes {
    private final Label beforeSuper = new Label();
    private final Label afterSuper = new Label();
    private final String owner;
    private final String superOwner;
    private boolean superCalled;
    private boolean thisReplaced; // before the call of super()
    private boolean ambiguous; // a call that may be that of super(): an object may have been created and dropped
    private int created; // objects whose constructor has not been called yet; -1 after the call of super()

    ConstructorProbes(
            MethodVisitor next, String method, int id, boolean frames, String owner, String superOwner) {
        super(next, method, id, frames);
        this.owner = owner;
        this.superOwner = superOwner;
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        super.visitTypeInsn(opcode, type);
        if (opcode == Opcodes.NEW) {
            created++;
        }
    }

    @Override
    public void visitVarInsn(int opcode, int variable) {
        super.visitVarInsn(opcode, variable);
        if (opcode >= Opcodes.ISTORE && variable == 0 && !superCalled) {
            thisReplaced = true;
        }
    }

    @Override
    public void visitMethodInsn(int opcode, String type, String name, String descriptor, boolean isInterface) {
        boolean isConstructor = opcode == Opcodes.INVOKESPECIAL && name.equals("<init>");
        boolean mayBeSuper = isConstructor && !superCalled && (type.equals(owner) || type.equals(superOwner));
        boolean isSuper = mayBeSuper && created == 0;
        ambiguous |= mayBeSuper && !isSuper;
        if (isSuper) {
            super.visitLabel(beforeSuper);
        }
        super.visitMethodInsn(opcode, type, name, descriptor, isInterface);
        if (isSuper) {
            superCalled = true;
            super.visitLabel(afterSuper);
        }
        if (isConstructor) {
            created--;
        }
    }

    @Override
    void addHandlers() {
        if (ambiguous || thisReplaced) {
            return;
        }
        if (!superCalled) {
            addHandlerBefore(end);
        } else if (created == -1) {
            addHandlerBefore(beforeSuper);
            addHandler(afterSuper, end, new Object[0]);
        }
    }

    private void addHandlerBefore(Label last) {
        addHandler(begin, last, new Object[] {Opcodes.UNINITIALIZED_THIS});
    }
}
