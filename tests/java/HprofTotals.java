// SPDX-License-Identifier: MIT
// A second reader of heap dumps, which shares nothing with hdump: prints the number of objects of each class of a dump
// with ids of 8 bytes, and of arrays.
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

public final class HprofTotals {
  private static final int[] SIZES = {0, 0, 8, 0, 1, 2, 4, 8, 1, 2, 4, 8};
  private static final String[] TYPES = {
    "", "", "", "", "boolean", "char", "float", "double", "byte", "short", "int", "long"
  };
  private final DataInputStream in;
  private final Map<Long, String> texts = new HashMap<>();
  private final Map<Long, String> names = new HashMap<>();
  private final Map<String, Long> objects = new TreeMap<>();

  private HprofTotals(DataInputStream in) {
    this.in = in;
  }

  public static void main(String[] arguments) throws Exception {
    try (FileInputStream file = new FileInputStream(arguments[0])) {
      new HprofTotals(new DataInputStream(new BufferedInputStream(file))).read();
    }
  }

  private void read() throws Exception {
    while (in.readByte() != 0) {}
    if (in.readInt() != 8) throw new IllegalArgumentException("ids have not 8 bytes");
    in.readLong();
    for (int tag = in.read(); tag >= 0; tag = in.read()) {
      in.readInt();
      final long length = in.readInt() & 0xffffffffL;
      if (tag == 0x01) {
        texts.put(in.readLong(), new String(in.readNBytes((int) length - 8), "UTF-8"));
      } else if (tag == 0x02) {
        in.readInt();
        final long id = in.readLong();
        in.readInt();
        names.put(id, texts.get(in.readLong()));
      } else if (tag == 0x0c || tag == 0x1c) {
        for (long left = length; left > 0; ) left -= object();
      } else {
        in.skipNBytes(length);
      }
    }
    objects.forEach((name, count) -> System.out.println(name + " " + count));
  }

  private void count(String name) {
    objects.merge(name, 1L, Long::sum);
  }

  private long skip(long bytes) throws Exception {
    in.skipNBytes(bytes);
    return bytes;
  }

  // One entry of a part of the heap; returns its bytes.
  private long object() throws Exception {
    final int tag = in.read();
    switch (tag) {
      case 0xff, 0x05, 0x07:
        return 1 + skip(8);
      case 0x01:
        return 1 + skip(16);
      case 0x02, 0x03, 0x08:
        return 1 + skip(16);
      case 0x04, 0x06:
        return 1 + skip(12);
      case 0x20:
        return 1 + classDump();
      case 0x21: {
        skip(12);
        count(names.get(in.readLong()).replace('/', '.'));
        return 25 + skip(in.readInt());
      }
      case 0x22: {
        skip(12);
        final int length = in.readInt();
        in.readLong();
        count("arrays of references");
        return 25 + skip(8L * length);
      }
      case 0x23: {
        skip(12);
        final int length = in.readInt();
        final int type = in.read();
        count(TYPES[type] + "[]");
        return 18 + skip((long) SIZES[type] * length);
      }
      default:
        throw new IllegalArgumentException("unknown entry " + tag);
    }
  }

  private long classDump() throws Exception {
    long bytes = skip(8 + 4 + 6 * 8 + 4);
    count("java.lang.Class");
    for (int number = in.readUnsignedShort(); number > 0; --number) {
      skip(2);
      bytes += 3 + skip(SIZES[in.read()]);
    }
    for (int number = in.readUnsignedShort(); number > 0; --number) {
      skip(8);
      bytes += 9 + skip(SIZES[in.read()]);
    }
    final int fields = in.readUnsignedShort();
    return bytes + 6 + skip(9L * fields);
  }
}
