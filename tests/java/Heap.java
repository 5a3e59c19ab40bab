// SPDX-License-Identifier: MIT
// A heap whose objects are known: dumps it, and prints the JVM's own numbers of objects and bytes.
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.management.ObjectName;

public final class Heap {
  // Item and its array are reachable from one list only.
  static final class Item {
    final byte[] content;
    final long number;

    Item(int bytes, long number) {
      this.content = new byte[bytes];
      this.number = number;
    }
  }

  static class Base {
    byte small = 1;
    Object first;
  }

  static final class Derived extends Base {
    long large = 2;
    Object second;
    boolean flag;
  }

  static final class Link {
    Link next;
  }

  // What both branches of Fork reach is dominated by Fork, not by a branch.
  static final class Fork {
    Branch left = new Branch();
    Branch right = new Branch();
  }

  static final class Branch {
    Object own = new long[100];
    Object shared;
  }

  static final class Cached {
    final int[] data = new int[1000];
  }

  static List<Item> leak = new ArrayList<>();
  static Map<String, Derived> map = new HashMap<>();
  static Link chain;
  static Fork fork = new Fork();
  static WeakReference<Cached> weak;
  static Object strong;

  // Arguments: the dump's file, the number of items, and of links.
  public static void main(String[] arguments) throws Exception {
    final int items = Integer.parseInt(arguments[1]);
    for (int i = 0; i < items; ++i) leak.add(new Item(64, i));
    for (int i = 0; i < 1000; ++i) map.put("key " + i, new Derived());
    for (int i = Integer.parseInt(arguments[2]); i > 0; --i) {
      final Link link = new Link();
      link.next = chain;
      chain = link;
    }
    fork.left.shared = fork.right.shared = new double[500];
    // A weak reference keeps nothing alive: what is below the object belongs to the strong one.
    strong = new Object[] {new Cached()};
    weak = new WeakReference<>((Cached) ((Object[]) strong)[0]);

    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(arguments[0], true);
    System.out.print(
        ManagementFactory.getPlatformMBeanServer()
            .invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "gcClassHistogram",
                new Object[] {new String[0]},
                new String[] {String[].class.getName()}));
  }
}
