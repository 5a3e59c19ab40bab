// SPDX-License-Identifier: MIT
// A program whose heap bench/heap_capture.sh dumps: maps of strings, lists and arrays; it waits until its input ends. Argument: the
// number of sessions, each of some 25 objects and 1.1 KB.
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class HeapToDump {
    private static final class Session {
        final long number;
        final String user;
        final Map<String, Object> values = new HashMap<>();
        final List<byte[]> pages = new ArrayList<>();

        Session(long number) {
            this.number = number;
            user = "user " + number * 7919 % 1_000_003;
            values.put("user", user);
            values.put("count", number);
            values.put("path", "/srv/data/" + number + "/" + Long.toHexString(number * 0x9e3779b97f4a7c15L));
            for (int i = 0; i < 4; i++) {
                byte[] page = new byte[150];
                for (int k = 0; k < page.length; k++) {
                    page[k] = (byte) ((number + i) * k >> 3 & 0x3f);
                }
                pages.add(page);
            }
        }
    }

    private static final Map<Long, Session> SESSIONS = new HashMap<>();

    private HeapToDump() {
    }

    /** Fills the heap and waits. */
    public static void main(String[] args) throws IOException {
        for (long number = 0; number < Long.parseLong(args[0]); number++) {
            SESSIONS.put(number, new Session(number));
        }
        System.gc();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
