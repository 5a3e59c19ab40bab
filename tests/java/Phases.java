// SPDX-License-Identifier: MIT
// Makes a known number of calls for each line on standard input: as many as the line says. Prints "done N" after each
// line, N being the number of lines so far; ends with the input.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

public class Phases {
    static int sum;

    static void step(int i) {
        sum += i;
    }

    static void phase(int calls) {
        for (int i = 0; i < calls; i++) {
            step(i);
        }
    }

    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        int done = 0;
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            phase(Integer.parseInt(line));
            System.out.println("done " + ++done);
        }
    }
}
