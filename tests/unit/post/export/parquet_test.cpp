// SPDX-License-Identifier: MIT
// Parquet files: runs and packed values by a decoder made from the format's description, headers
// byte for byte, and the frame of a whole file. Other programs read such files in long/export.
#include "export/parquet.h"

#include <gmock/gmock.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <random>

#include "export/thrift.h"

namespace {

using namespace post;
using testing::ElementsAre;

// Parquet's Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
std::vector<uint32_t> decoded(const std::string& bytes, uint32_t bits, size_t count) {
  std::vector<uint32_t> values;
  size_t at = 0;
  const auto next = [&] { return static_cast<uint8_t>(bytes.at(at++)); };
  while (values.size() < count) {
    uint64_t head = 0;
    for (uint32_t shift = 0;; shift += 7) {
      const uint8_t byte = next();
      head |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    if ((head & 1) == 0) {
      uint32_t value = 0;
      for (uint32_t i = 0; i < (bits + 7) / 8; ++i) value |= uint32_t{next()} << 8 * i;
      values.insert(values.end(), head >> 1, value);
      continue;
    }
    const size_t packed = (head >> 1) * 8;
    for (size_t i = 0; i < packed; ++i) {
      uint32_t value = 0;
      for (uint32_t bit = 0; bit < bits; ++bit) {
        const size_t place = i * bits + bit;
        value |= (static_cast<uint8_t>(bytes.at(at + place / 8)) >> place % 8 & 1u) << bit;
      }
      values.push_back(value);
    }
    at += packed * bits / 8;
  }
  EXPECT_EQ(at, bytes.size());
  for (size_t i = count; i < values.size(); ++i) EXPECT_EQ(values[i], 0u) << "padding";
  values.resize(count);
  return values;
}

TEST(Parquet, RunsAndPackedValuesOfEachWidth) {
  std::mt19937 random(1);
  for (uint32_t bits = 1; bits <= 32; ++bits)
    for (size_t count : {0u, 1u, 7u, 8u, 9u, 100u, 1000u}) {
      std::vector<uint32_t> values;
      while (values.size() < count) {
        const uint32_t value = static_cast<uint32_t>(random() & ((uint64_t{1} << bits) - 1));
        const size_t times = random() % 3 == 0 ? random() % 40 : 1;
        for (size_t i = 0; i < times && values.size() < count; ++i) values.push_back(value);
      }
      EXPECT_EQ(decoded(rle_hybrid(values, bits), bits, count), values) << bits << " " << count;
    }
  // The example of the format's description: the numbers 0 to 7 in three bits.
  EXPECT_EQ(rle_hybrid({0, 1, 2, 3, 4, 5, 6, 7}, 3), std::string("\x03\x88\xc6\xfa", 4));
  EXPECT_EQ(rle_hybrid(std::vector<uint32_t>(100, 5), 3), std::string("\xc8\x01\x05", 3));
}

// Parquet's Encodings.md, "Delta Encoding (DELTA_BINARY_PACKED = 5)".
std::vector<int64_t> decoded_differences(const std::string& bytes) {
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes.at(at++));
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  };
  const auto zigzag = [&] {
    const uint64_t value = varint();
    return value >> 1 ^ (0 - (value & 1));
  };
  const uint64_t block = varint(), parts = varint(), count = varint();
  EXPECT_EQ(block % 128, 0u);
  EXPECT_EQ(block / parts % 32, 0u);
  uint64_t value = zigzag();
  std::vector<int64_t> values;
  if (count != 0) values.push_back(static_cast<int64_t>(value));
  while (values.size() < count) {
    const uint64_t least = zigzag();
    std::vector<uint8_t> widths;
    for (uint64_t i = 0; i < parts; ++i) widths.push_back(static_cast<uint8_t>(bytes.at(at++)));
    for (const uint8_t width : widths) {
      if (values.size() == count) break;
      for (uint64_t i = 0; i < block / parts; ++i) {
        uint64_t above = 0;
        for (uint64_t bit = 0; bit < width; ++bit) {
          const uint64_t place = i * width + bit;
          above |= uint64_t{static_cast<uint8_t>(bytes.at(at + place / 8)) >> place % 8 & 1u}
                   << bit;
        }
        value += least + above;
        if (values.size() < count) values.push_back(static_cast<int64_t>(value));
      }
      at += block / parts * width / 8;
    }
  }
  EXPECT_EQ(at, bytes.size());
  return values;
}

TEST(Parquet, DifferencesOfAnySize) {
  std::mt19937_64 random(1);
  for (const size_t count : {0u, 1u, 2u, 32u, 33u, 34u, 128u, 129u, 130u, 1000u})
    for (uint32_t bits = 0; bits <= 64; bits += 4) {
      std::vector<int64_t> values;
      while (values.size() < count)
        values.push_back(static_cast<int64_t>(bits == 0 ? 7 : random() >> (64 - bits)));
      EXPECT_EQ(decoded_differences(packed_differences(values)), values) << count << " " << bits;
    }
  // The first example of the format's description, in blocks of 128 values: 1 to 5.
  EXPECT_EQ(packed_differences({1, 2, 3, 4, 5}),
            std::string("\x80\x01\x04\x05\x02\x02\0\0\0\0", 10));
  // The second: 7, 5, 3, 1, 2, 3, 4, 5, with a least difference of -2 and two bits.
  const std::string second = packed_differences({7, 5, 3, 1, 2, 3, 4, 5});
  EXPECT_EQ(second.substr(0, 10), std::string("\x80\x01\x04\x08\x0e\x03\x02\0\0\0", 10));
  EXPECT_EQ(second.substr(10), std::string("\xc0\x3f\0\0\0\0\0\0", 8));
}

// By the description of the compact protocol.
TEST(Parquet, HeadersAreInThriftsCompactProtocol) {
  ThriftWriter writer;
  writer.i32(1, -1);
  writer.i64(3, 300);
  writer.boolean(4, true);
  writer.begin(5);
  writer.binary(1, "ab");
  writer.end();
  writer.list(6, ThriftWriter::Type::i32, 2);
  writer.element(1);
  writer.element(-2);
  writer.list(7, ThriftWriter::Type::binary, 15);
  for (int i = 0; i < 15; ++i) writer.element("");
  EXPECT_EQ(writer.finish(), std::string("\x15\x01\x26\xd8\x04\x11\x1c\x18\x02"
                                         "ab\x00\x19\x25\x02\x03\x19\xf8\x0f",
                                         19) +
                                 std::string(15, '\0') + std::string(1, '\0'));
}

TEST(Parquet, AFileBeginsAndEndsAsTheFormatDemands) {
  StringTable names;
  StringSink sink;
  ParquetWriter writer(names, {{"name", ParquetWriter::Type::text, true}}, sink);
  writer.put(0, names.intern("a name that is compressed"));
  EXPECT_TRUE(writer.end_row());
  writer.put_null(0);
  EXPECT_TRUE(writer.end_row());
  EXPECT_TRUE(writer.finish({{"key", "value"}}));
  const std::string& file = sink.text;
  EXPECT_EQ(file.substr(0, 4), "PAR1");
  EXPECT_EQ(file.substr(file.size() - 4), "PAR1");
  uint32_t footer = 0;
  std::memcpy(&footer, file.data() + file.size() - 8, 4);
  ASSERT_LT(footer + 12, file.size());
  const std::string metadata = file.substr(file.size() - 8 - footer, footer);
  EXPECT_NE(metadata.find("key"), std::string::npos);
  EXPECT_NE(metadata.find("name"), std::string::npos);
  // The first page: the dictionary, whose head ends with its number of values and its encoding.
  const size_t frame = file.find("\x28\xb5\x2f\xfd");  // zstd's magic number
  ASSERT_NE(frame, std::string::npos);
  const size_t size = ZSTD_findFrameCompressedSize(file.data() + frame, file.size() - frame);
  std::string text(100, '\0');
  text.resize(ZSTD_decompress(text.data(), text.size(), file.data() + frame, size));
  EXPECT_EQ(text, std::string("\x19\0\0\0", 4) + "a name that is compressed");
  // Field 4 of the head is the checksum of the compressed page, a zigzag number.
  const auto sum =
      static_cast<int32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(file.data() + frame), size));
  ThriftWriter expected;
  expected.i32(1, 2);
  expected.i32(2, 29);
  expected.i32(3, static_cast<int32_t>(size));
  expected.i32(4, sum);
  expected.begin(7);
  expected.i32(1, 1);
  expected.i32(2, 0);
  expected.end();
  EXPECT_EQ(file.substr(4, frame - 4), expected.finish());
}

TEST(Parquet, ATableWithoutRowsIsAWholeFile) {
  StringTable names;
  StringSink sink;
  ParquetWriter writer(names, {{"name"}}, sink);
  EXPECT_TRUE(writer.finish({}));
  EXPECT_EQ(sink.text.substr(0, 4), "PAR1");
  EXPECT_EQ(sink.text.substr(sink.text.size() - 4), "PAR1");
}

}  // namespace
