// SPDX-License-Identifier: MIT
// Adds the probes of a method: at its beginning, before each return, and in a handler of all exceptions at its end.
package pitrace;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Copies a method's code. The method's own stack frames stay as they are; only those of the handlers are added, so that no class
 * has to be loaded to compute frames.
 */
class MethodProbes extends MethodVisitor {
    private static final String PROBE = "java/lang/PitraceProbe";
    private static final int STACK_OF_HANDLER = 2; // the exception and the id

    final Label begin = new Label();
    final Label end = new Label();
    // Pairs, in order: a probe before a return and that return. They are in no handler: an exception there, as by Thread.stop(),
    // finds the exit counted.
    private final List<Label> exits = new ArrayList<>();
    private final String method;
    private final int id;
    private final boolean frames;

    /** frames: the class file's version has frames. */
    MethodProbes(MethodVisitor next, String method, int id, boolean frames) {
        super(Opcodes.ASM9, next);
        this.method = method;
        this.id = id;
        this.frames = frames;
    }

    /** Whether this annotation marks a method in whose place the JVM may use code of its own. */
    static boolean marksIntrinsic(String annotation) {
        return annotation.endsWith("IntrinsicCandidate;");
    }

    @Override
    public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
        if (marksIntrinsic(annotation)) {
            Methods.report(method, "intrinsic: calls from compiled code are not counted where the JVM has its own code");
        }
        return super.visitAnnotation(annotation, visible);
    }

    @Override
    public void visitCode() {
        super.visitCode();
        probe("enter");
        super.visitLabel(begin);
    }

    @Override
    public void visitInsn(int opcode) {
        boolean returns = opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN;
        if (returns) {
            addExitLabel();
            probe("exit");
        }
        super.visitInsn(opcode);
        if (returns) {
            addExitLabel();
        }
    }

    private void addExitLabel() {
        Label label = new Label();
        super.visitLabel(label);
        exits.add(label);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        super.visitLabel(end);
        addHandlers();
        super.visitMaxs(Math.max(maxStack + 1, STACK_OF_HANDLER), maxLocals);
    }

    void addHandlers() {
        addHandler(begin, end, new Object[0]);
    }

    /** Handlers are searched in order, so those that are added last leave the others their exceptions. */
    final void addHandler(Label first, Label last, Object[] locals) {
        Label handler = new Label();
        Label from = first;
        for (int i = 0; i < exits.size(); i += 2) {
            if (exits.get(i).getOffset() >= from.getOffset() && exits.get(i).getOffset() < last.getOffset()) {
                handle(from, exits.get(i), handler);
                from = exits.get(i + 1);
            }
        }
        handle(from, last, handler);
        super.visitLabel(handler);
        if (frames) {
            super.visitFrame(Opcodes.F_FULL, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
        }
        probe("exitByException");
        super.visitInsn(Opcodes.ATHROW);
    }

    private void handle(Label from, Label to, Label handler) {
        if (from.getOffset() < to.getOffset()) { // a class file has no empty ranges
            super.visitTryCatchBlock(from, to, handler, null);
        }
    }

    private void probe(String name) {
        super.visitLdcInsn(id);
        super.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, name, "(I)V", false);
    }
}
