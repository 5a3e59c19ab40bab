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
