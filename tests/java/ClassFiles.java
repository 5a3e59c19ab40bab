// SPDX-License-Identifier: MIT
// Writes class files that a Java compiler does not make, for Programs.java and LockFiles.java. Argument: the directory.
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

final class ClassFiles {
    private static final int PUBLIC_STATIC = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
    private static final int LARGEST = 65535;
    private static final int RETURN_BYTES = 2; // iload_0, ireturn
    private static final int ADD_BYTES = 3; // iinc

    private ClassFiles() {}

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        Files.write(directory.resolve("Large.class"), large());
        Files.write(directory.resolve("Constants.class"), constants());
        Files.write(directory.resolve("LockUsual.class"), locks("LockUsual", 1, 1));
        Files.write(directory.resolve("LockVariables.class"), locks("LockVariables", 1, LARGEST));
        Files.write(directory.resolve("LockPlaces.class"), locks("LockPlaces", 4000, 1));
        Files.write(directory.resolve("LockInitialiser.class"), initialiser("LockInitialiser"));
        for (int version = 46; version <= 50; version++) {
            Files.write(directory.resolve("Old" + version + ".class"), old(version));
        }
    }

    private static ClassWriter begin(int version, String name) {
        ClassWriter writer = new ClassWriter(0);
        writer.visit(version, Opcodes.ACC_PUBLIC, name, null, "java/lang/Object", null);
        return writer;
    }

    private static MethodVisitor beginMethod(ClassWriter writer, String name) {
        MethodVisitor method = writer.visitMethod(PUBLIC_STATIC, name, "(I)I", null, null);
        method.visitCode();
        return method;
    }

    private static void end(MethodVisitor method, int stack, int locals) {
        method.visitMaxs(stack, locals);
        method.visitEnd();
    }

    private static byte[] end(ClassWriter writer) {
        writer.visitEnd();
        return writer.toByteArray();
    }

    /** Two methods that add 1 to their argument again and again: fits() can get probes, full() has no byte left. And native ones. */
    static byte[] large() {
        ClassWriter writer = begin(Opcodes.V11, "Large");
        for (String letter : new String[] {"n", "\u00e4", "\u4e00"}) { // of 1, 2 and 3 bytes
            String name = letter.repeat((LARGEST - 5) / letter.getBytes(StandardCharsets.UTF_8).length);
            writer.visitMethod(PUBLIC_STATIC | Opcodes.ACC_NATIVE, name, "()V", null, null).visitEnd();
        }
        for (String name : new String[] {"fits", "full"}) {
            int bytes = name.equals("full") ? LARGEST : LARGEST - 100;
            MethodVisitor method = beginMethod(writer, name);
            int left = bytes - RETURN_BYTES;
            for (; left >= ADD_BYTES; left -= ADD_BYTES) {
                method.visitIincInsn(0, 1);
            }
            for (; left > 0; left--) {
                method.visitInsn(Opcodes.NOP);
            }
            method.visitVarInsn(Opcodes.ILOAD, 0);
            method.visitInsn(Opcodes.IRETURN);
            end(method, 1, 1);
        }
        return end(writer);
    }

    /** A method that enters the monitor of its class, and returns how often. */
    private static byte[] locks(String name, int gets, int variables) {
        ClassWriter writer = begin(Opcodes.V11, name);
        MethodVisitor method = beginMethod(writer, "run");
        for (int i = 0; i < gets; i++) {
            for (int opcode : new int[] {Opcodes.MONITORENTER, Opcodes.MONITOREXIT}) {
                method.visitLdcInsn(Type.getObjectType(name));
                method.visitInsn(opcode);
            }
        }
        method.visitLdcInsn(gets);
        method.visitInsn(Opcodes.IRETURN);
        end(method, 1, variables);
        return end(writer);
    }

    /** An initialiser that is marked as synchronized, which the JVM ignores. */
    private static byte[] initialiser(String name) {
        ClassWriter writer = begin(Opcodes.V11, name);
        int access = Opcodes.ACC_STATIC | Opcodes.ACC_SYNCHRONIZED;
        MethodVisitor method = writer.visitMethod(access, "<clinit>", "()V", null, null);
        method.visitCode();
        method.visitInsn(Opcodes.RETURN);
        end(method, 0, 0);
        method = beginMethod(writer, "run");
        method.visitInsn(Opcodes.ICONST_0);
        method.visitInsn(Opcodes.IRETURN);
        end(method, 1, 1);
        return end(writer);
    }

    /** All constants that a class file can have. */
    static byte[] constants() {
        ClassWriter writer = begin(Opcodes.V11, "Constants");
        MethodVisitor method = beginMethod(writer, "last");
        method.visitLdcInsn(1 << 20);
        method.visitVarInsn(Opcodes.ILOAD, 0);
        method.visitInsn(Opcodes.IADD);
        method.visitInsn(Opcodes.IRETURN);
        end(method, 2, 1);
        int last = 0;
        for (int i = 0; last < LARGEST - 2; i++) {
            last = writer.newConst((1 << 20) + i);
        }
        return end(writer);
    }

    /** subroutine(n) is 60 / (n + 1), plus 1 by a subroutine (jsr and ret), as compilers made them for "finally". */
    static byte[] old(int version) {
        ClassWriter writer = begin(version, "Old" + version);
        MethodVisitor method = beginMethod(writer, "subroutine");
        Label subroutine = new Label();
        Label begin = new Label();
        Label handler = new Label();
        method.visitTryCatchBlock(begin, handler, handler, null);
        method.visitLabel(begin);
        method.visitIntInsn(Opcodes.BIPUSH, 60);
        method.visitVarInsn(Opcodes.ILOAD, 0);
        method.visitInsn(Opcodes.ICONST_1);
        method.visitInsn(Opcodes.IADD);
        method.visitInsn(Opcodes.IDIV);
        method.visitVarInsn(Opcodes.ISTORE, 1);
        method.visitJumpInsn(Opcodes.JSR, subroutine);
        method.visitVarInsn(Opcodes.ILOAD, 1);
        method.visitInsn(Opcodes.IRETURN);
        method.visitLabel(handler);
        method.visitVarInsn(Opcodes.ASTORE, 3);
        method.visitInsn(Opcodes.ICONST_0);
        method.visitVarInsn(Opcodes.ISTORE, 1);
        method.visitJumpInsn(Opcodes.JSR, subroutine);
        method.visitVarInsn(Opcodes.ALOAD, 3);
        method.visitInsn(Opcodes.ATHROW);
        method.visitLabel(subroutine);
        method.visitVarInsn(Opcodes.ASTORE, 2);
        method.visitIincInsn(1, 1);
        method.visitVarInsn(Opcodes.RET, 2);
        end(method, 3, 4);
        return end(writer);
    }
}
