// SPDX-License-Identifier: MIT
package jperf;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Virtual threads, of Java 21 and later: they change the thread of the kernel that carries them. */
final class VirtualThreads {
    private static final MethodHandle IS_VIRTUAL = find();

    private VirtualThreads() {}

    private static MethodHandle find() {
        try {
            return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException none) {
            return null; // Java 20 or older
        }
    }

    /** Throws PerfException in a virtual thread; why begins the sentence. */
    static void refuse(String why) {
        if (IS_VIRTUAL == null) {
            return;
        }
        boolean isVirtual;
        try {
            isVirtual = (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
        if (isVirtual) {
            throw new PerfException(PerfException.NOT_SUPPORTED,
                    why + ", and a virtual thread changes the one that carries it: call this in a platform thread.");
        }
    }
}
