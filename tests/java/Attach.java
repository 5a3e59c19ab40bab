// SPDX-License-Identifier: MIT
// Loads an agent into a JVM again and again, each time with all of the options given, one after the other.
// Arguments: pid, library, rounds, options...
import com.sun.tools.attach.VirtualMachine;

public class Attach {
    public static void main(String[] args) throws Exception {
        VirtualMachine jvm = VirtualMachine.attach(args[0]);
        for (int round = 0; round < Integer.parseInt(args[2]); round++) {
            for (int i = 3; i < args.length; i++) {
                jvm.loadAgentPath(args[1], args[i]);
            }
        }
        jvm.detach();
    }
}
