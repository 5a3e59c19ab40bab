// SPDX-License-Identifier: MIT
// Generates methods that do nothing but call each other: what is measured in them is overhead of the probes.
package pitrace;

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The class {@value #NAME} has for each kind of method a root, which the agent calls. A root calls methods, and each of these calls
 * two leaves in a row, so that entry and exit follow each other in all four ways between methods of the kinds.
 *
 * <p>The kinds: instance and static methods, each once to be called so often that the JVM compiles it, and once so seldom that it
 * stays interpreted. Compiled methods call no interpreted ones here: these would be compiled too.
 *
 * <p>The receiver is local variable 0 everywhere: this, or a static method's argument.
 */
final class Trainer {
    static final String NAME = "pitrace/Trained";
    private static final int STATIC = 1; // a bit of a kind
    private static final int COMPILED = 2;
    private static final int KINDS = 4;
    // HotSpot inlines no method of more bytes than its option FreqInlineSize, which is 325.
    private static final int TOO_LARGE_TO_INLINE = 400;
    private static final String DESCRIPTOR = "()V";
    private static final String STATIC_DESCRIPTOR = "(L" + NAME + ";)V";

    private final ClassWriter writer = new ClassWriter(0);
    private final boolean[] sharedLeaves = new boolean[KINDS];
    private final boolean inlined;

    private Trainer(boolean inlined) {
        this.inlined = inlined;
    }

    /**
     * The class file.
     *
     * @param inlined whether the JVM may inline the methods. What two events in inlined methods cost is the probes alone; between those
     *     of a call there is also its prologue or epilogue, which environmental minima contain
     */
    static byte[] classFile(boolean inlined) {
        return new Trainer(inlined).generate();
    }

    private byte[] generate() {
        writer.visit(Opcodes.V11, Opcodes.ACC_FINAL | Opcodes.ACC_SUPER, NAME, null, "java/lang/Object", null);
        constructor();
        for (int kind = 0; kind < KINDS; kind++) {
            root(kind);
        }
        writer.visitEnd();
        return writer.toByteArray();
    }

    private void constructor() {
        MethodVisitor code = writer.visitMethod(0, "<init>", "()V", null, null);
        code.visitCode();
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        code.visitInsn(Opcodes.RETURN);
        code.visitMaxs(1, 1);
        code.visitEnd();
    }

    // The methods that this root calls are its own if they are to be interpreted.
    private void root(int kind) {
        int fewest = (kind & COMPILED) != 0 ? COMPILED : 0;
        int[] called = new int[KINDS * KINDS * KINDS];
        String[] names = new String[called.length];
        int count = 0;
        for (int caller = fewest; caller < KINDS; caller++) {
            int fewestLeaf = (caller & COMPILED) != 0 ? COMPILED : 0;
            for (int first = fewestLeaf; first < KINDS; first++) {
                for (int second = fewestLeaf; second < KINDS; second++) {
                    names[count] = caller(kind, caller, first, second);
                    called[count++] = caller;
                }
            }
        }
        MethodVisitor code = begin("root" + kind, kind);
        for (int i = 0; i < count; i++) {
            call(code, names[i], called[i]);
        }
        end(code);
    }

    private String caller(int root, int kind, int first, int second) {
        String name = "caller" + root + kind + first + second;
        String firstLeaf = leaf(name + "First", first);
        String secondLeaf = leaf(name + "Second", second);
        MethodVisitor code = begin(name, kind);
        call(code, firstLeaf, first);
        call(code, secondLeaf, second);
        end(code);
        return name;
    }

    // One leaf for each caller, or one for all if it is to be compiled.
    private String leaf(String name, int kind) {
        boolean shared = (kind & COMPILED) != 0;
        String chosen = shared ? "leaf" + kind : name;
        if (!shared || !sharedLeaves[kind]) {
            sharedLeaves[kind] = true;
            end(begin(chosen, kind));
        }
        return chosen;
    }

    private MethodVisitor begin(String name, int kind) {
        boolean isStatic = (kind & STATIC) != 0;
        int access = isStatic ? Opcodes.ACC_STATIC : Opcodes.ACC_FINAL;
        MethodVisitor code = writer.visitMethod(access, name, isStatic ? STATIC_DESCRIPTOR : DESCRIPTOR, null, null);
        code.visitCode();
        return code;
    }

    private static void call(MethodVisitor code, String name, int kind) {
        boolean isStatic = (kind & STATIC) != 0;
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitMethodInsn(isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKEVIRTUAL, NAME, name,
                isStatic ? STATIC_DESCRIPTOR : DESCRIPTOR, false);
    }

    private void end(MethodVisitor code) {
        code.visitInsn(Opcodes.RETURN);
        if (!inlined) {
            // Never executed. Unreachable code needs a frame of its own.
            code.visitFrame(Opcodes.F_SAME1, 0, null, 1, new Object[] {"java/lang/Throwable"});
            for (int i = 0; i < TOO_LARGE_TO_INLINE; i++) {
                code.visitInsn(Opcodes.NOP);
            }
            code.visitInsn(Opcodes.ATHROW);
        }
        code.visitMaxs(1, 1);
        code.visitEnd();
    }
}
