// SPDX-License-Identifier: MIT
// Repeatedly loads an agent into a JVM: each round loads it with each of the given options in turn. Arguments: pid,
// library, rounds, options...
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
