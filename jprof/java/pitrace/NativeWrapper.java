// SPDX-License-Identifier: MIT
// The method that calls a renamed native method.
package pitrace;

import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Copies a native method's annotations, and adds code at the end. */
final class NativeWrapper extends MethodVisitor {
    private final boolean isStatic;
    private final String owner;
    private final String wrapped;
    private final String descriptor;

    NativeWrapper(MethodProbes next, int access, String owner, String wrapped, String descriptor) {
        super(Opcodes.ASM9, next);
        this.isStatic = (access & Opcodes.ACC_STATIC) != 0;
        this.owner = owner;
        this.wrapped = wrapped;
        this.descriptor = descriptor;
    }

    @Override
    public void visitEnd() {
        visitCode();
        int local = 0;
        if (!isStatic) {
            visitVarInsn(Opcodes.ALOAD, local++);
        }
        for (Type argument : Type.getArgumentTypes(descriptor)) {
            visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
            local += argument.getSize();
        }
        visitMethodInsn(isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKESPECIAL, owner, wrapped, descriptor, false);
        Type result = Type.getReturnType(descriptor);
        visitInsn(result.getOpcode(Opcodes.IRETURN));
        visitMaxs(Math.max(local, result.getSize()), local);
        super.visitEnd();
    }
}
