// SPDX-License-Identifier: MIT
// The classic example: main calls myA so often as the argument says, and prints what myC has calculated.
public class Iterations {
    private long value = 1;

    void myC() {
        for (int i = 0; i < 100; i++) {
            value = value * 1103515245 + 12345;
        }
    }

    void myA() {
        myC();
    }

    public static void main(String[] args) {
        Iterations object = new Iterations();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            object.myA();
            System.out.println(new StringBuffer().append(object.value).toString());
        }
    }
}
