// SPDX-License-Identifier: MIT
// Adds the probes of the lock monitor to a method.
package pitrace;

import java.util.Arrays;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.TypePath;
import org.objectweb.asm.TypeReference;

/**
 * Copies a method's code.
 *
 * <p>A probe that is called while the method holds a monitor can overflow the stack. The method's own handler would call a probe
 * again, for ever, and without any handler the JVM would not compile the method. So each such probe has a handler of its own,
 * which leaves the monitor and throws the exception again. It precedes the handlers of the method.
 */
final class LockProbes extends MethodVisitor {
    private static final String PROBE = "java/lang/PitraceLocks";
    private static final String MONITOR = "java/lang/PitraceMonitor";
    static final int MORE_STACK = 2;
    static final int MORE_LOCALS = 1;

    private final LockCode.Method method;
    private final int number;
    private final String lockedClass; // of a static method, else null
    private final boolean frames;
    private final Label[] firsts;
    private final Label[] lasts;
    private final Label[] handlers;
    private final Label begin = new Label();
    private int place;

    LockProbes(MethodVisitor next, LockCode.Method method, int number, String lockedClass, boolean frames) {
        super(Opcodes.ASM9, next);
        this.method = method;
        this.number = number;
        this.lockedClass = lockedClass;
        this.frames = frames;
        this.firsts = labels(method.places);
        this.lasts = labels(method.places);
        this.handlers = labels(method.places);
    }

    private static Label[] labels(int count) {
        Label[] labels = new Label[count];
        for (int i = 0; i < count; i++) {
            labels[i] = new Label();
        }
        return labels;
    }

    @Override
    public AnnotationVisitor visitTryCatchAnnotation(int reference, TypePath path, String descriptor, boolean visible) {
        int index = new TypeReference(reference).getTryCatchBlockIndex() + method.places;
        return super.visitTryCatchAnnotation(
                TypeReference.newTryCatchReference(index).getValue(), path, descriptor, visible);
    }

    @Override
    public void visitCode() {
        super.visitCode();
        for (int i = 0; i < method.places; i++) {
            super.visitTryCatchBlock(firsts[i], lasts[i], handlers[i], null);
        }
        if (method.isSynchronized) {
            if (lockedClass != null) {
                super.visitLdcInsn(Type.getObjectType(lockedClass));
            } else {
                super.visitVarInsn(Opcodes.ALOAD, 0);
            }
            super.visitLdcInsn(number);
            call("enteredMethod", "(Ljava/lang/Object;I)V");
            super.visitLabel(begin);
        }
    }

    @Override
    public void visitInsn(int opcode) {
        if (opcode == Opcodes.MONITORENTER) {
            enter();
        } else if (opcode == Opcodes.MONITOREXIT) {
            exit();
        } else {
            if (method.isSynchronized && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                leaveMethod();
            }
            super.visitInsn(opcode);
        }
    }

    // What is before the handlers is the object of the monitor, in a variable that the method does not have.
    private void enter() {
        super.visitInsn(Opcodes.DUP);
        super.visitVarInsn(Opcodes.ASTORE, method.locals);
        super.visitInsn(Opcodes.DUP);
        super.visitLdcInsn(number + place);
        call("before", "(Ljava/lang/Object;I)L" + MONITOR + ";");
        super.visitInsn(Opcodes.SWAP);
        super.visitInsn(Opcodes.MONITORENTER);
        super.visitLabel(firsts[place]);
        call("entered", "(L" + MONITOR + ";)V");
        super.visitLabel(lasts[place]);
        place++;
    }

    private void exit() {
        super.visitInsn(Opcodes.DUP);
        super.visitInsn(Opcodes.DUP);
        super.visitVarInsn(Opcodes.ASTORE, method.locals);
        super.visitLabel(firsts[place]);
        call("leaving", "(Ljava/lang/Object;)V");
        super.visitLabel(lasts[place]);
        super.visitInsn(Opcodes.MONITOREXIT);
        place++;
    }

    private void leaveMethod() {
        super.visitLdcInsn(number);
        call("leavingMethod", "(I)V");
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        if (LockCode.isWait(opcode, name, descriptor)) {
            call("await", "(Ljava/lang/Object;" + descriptor.substring(1));
        } else {
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        }
    }

    private void call(String name, String descriptor) {
        super.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, name, descriptor, false);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        for (int i = 0; i < method.places; i++) {
            visitHandler(handlers[i], localsOfHandler());
            super.visitVarInsn(Opcodes.ALOAD, method.locals);
            super.visitInsn(Opcodes.MONITOREXIT);
            super.visitInsn(Opcodes.ATHROW);
        }
        if (method.isSynchronized) {
            Label end = new Label();
            Label handler = new Label();
            super.visitLabel(end);
            super.visitTryCatchBlock(begin, end, handler, null);
            visitHandler(handler, new Object[0]);
            leaveMethod();
            super.visitInsn(Opcodes.ATHROW);
        }
        super.visitMaxs(maxStack + MORE_STACK, maxLocals + (method.places > 0 ? MORE_LOCALS : 0));
    }

    private Object[] localsOfHandler() {
        Object[] locals = new Object[method.locals + 1];
        Arrays.fill(locals, Opcodes.TOP);
        locals[method.locals] = "java/lang/Object";
        return locals;
    }

    private void visitHandler(Label handler, Object[] locals) {
        super.visitLabel(handler);
        if (frames) {
            super.visitFrame(Opcodes.F_FULL, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
        }
    }
}
