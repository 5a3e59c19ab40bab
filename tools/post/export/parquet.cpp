// SPDX-License-Identifier: MIT
// Writes Apache Parquet files. The numbers of fields and constants are those of parquet.thrift.
#include "parquet.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <new>
#include <span>
#include <unordered_map>

#include "thrift.h"

namespace post {
namespace {

using Type = ParquetWriter::Type;

constexpr int64_t values_of_a_group = 1 << 22;
constexpr size_t most_text_bytes = size_t{32} << 20;  // of the dictionaries of a row group
constexpr std::string_view magic = "PAR1";

constexpr int32_t zstd_codec = 6;

bool is_int32(Type type) {
  return type == Type::int32;
}

int32_t physical(Type type) {
  return type == Type::text ? 6 : is_int32(type) ? 1 : 2;
}

std::string little_endian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// The number of values from a position on that are equal.
size_t run_at(const std::vector<uint32_t>& values, size_t at) {
  size_t end = at + 1;
  while (end < values.size() && values[end] == values[at]) ++end;
  return end - at;
}

// Of the indices of a dictionary. More than a few bits are whole bytes: zstd finds repeated
// sequences then.
uint32_t index_bits(size_t entries) {
  constexpr uint32_t few = 4;
  const auto bits = static_cast<uint32_t>(std::bit_width(std::max<size_t>(entries, 2) - 1));
  return bits <= few ? bits : (bits + 7) / 8 * 8;
}

constexpr size_t least_run = 8;

// Packs values of a number of bits, a multiple of eight values, padded with zeros.
template <class Value>
void pack(std::string& out, std::span<const Value> values, uint32_t bits) {
  uint64_t waiting = 0;
  uint32_t filled = 0;
  const auto put = [&](uint64_t value, uint32_t width) {
    waiting |= value << filled;
    for (filled += width; filled >= 8; filled -= 8, waiting >>= 8)
      out += static_cast<char>(waiting);
  };
  for (size_t i = 0; i < (values.size() + 7) / 8 * 8; ++i) {
    const uint64_t value = i < values.size() ? values[i] : 0;
    // Up to seven bits wait: wide values come in halves.
    put(value & 0xffffffff, std::min(bits, 32u));
    if (bits > 32) put(value >> 32, bits - 32);
  }
}

uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

void put_statistics(ThriftWriter& to, Type type, int64_t nulls, bool bounded, int64_t least,
                    int64_t greatest) {
  const size_t bytes = is_int32(type) ? 4 : 8;
  to.begin(12);
  to.i64(3, nulls);
  if (bounded) {
    to.binary(5, little_endian(static_cast<uint64_t>(greatest), bytes));
    to.binary(6, little_endian(static_cast<uint64_t>(least), bytes));
  }
  to.end();
}

void put_schema_element(ThriftWriter& to, const ParquetWriter::Column& column) {
  constexpr int32_t converted_utf8 = 0, converted_micros = 10;
  to.begin_element();
  to.i32(1, physical(column.type));
  to.i32(3, column.optional ? 1 : 0);
  to.binary(4, column.name);
  if (column.type == Type::text) {
    to.i32(6, converted_utf8);
    to.begin(10);
    to.begin(1);  // STRING
    to.end();
    to.end();
  } else if (column.type == Type::timestamp) {
    to.i32(6, converted_micros);
    to.begin(10);
    to.begin(8);  // TIMESTAMP
    to.boolean(1, true);
    to.begin(2);
    to.begin(2);  // MICROS
    to.end();
    to.end();
    to.end();
    to.end();
  }
  to.end();
}

}  // namespace

std::string rle_hybrid(const std::vector<uint32_t>& values, uint32_t bits) {
  std::string out;
  for (size_t at = 0; at < values.size();) {
    if (const size_t run = run_at(values, at); run >= least_run) {
      put_varint(out, run << 1);
      out += little_endian(values[at], (bits + 7) / 8);
      at += run;
      continue;
    }
    size_t end = at;
    // Each packed group is of eight values, of which the last may lack only at the end.
    do {
      end = std::min(end + 8, values.size());
    } while (end < values.size() && run_at(values, end) < least_run);
    put_varint(out, (end - at + 7) / 8 << 1 | 1);
    pack(out, std::span(values).subspan(at, end - at), bits);
    at = end;
  }
  return out;
}

std::string packed_differences(const std::vector<int64_t>& values) {
  constexpr size_t block = 128, parts = 4, part = block / parts;
  std::string out;
  put_varint(out, block);
  put_varint(out, parts);
  put_varint(out, values.size());
  put_varint(out, zigzag(values.empty() ? 0 : values[0]));
  for (size_t first = 1; first < values.size(); first += block) {
    const size_t count = std::min(block, values.size() - first);
    const auto difference = [&](size_t i) {
      return static_cast<int64_t>(static_cast<uint64_t>(values[first + i]) -
                                  static_cast<uint64_t>(values[first + i - 1]));
    };
    int64_t least = difference(0);
    for (size_t i = 1; i < count; ++i) least = std::min(least, difference(i));
    std::vector<uint64_t> above;
    for (size_t i = 0; i < count; ++i)
      above.push_back(static_cast<uint64_t>(difference(i)) - static_cast<uint64_t>(least));
    put_varint(out, zigzag(least));
    std::string packed;
    for (size_t at = 0; at < block; at += part) {
      std::vector<uint64_t> some(part);
      for (size_t i = at; i < std::min(count, at + part); ++i) some[i - at] = above[i];
      const auto bits = static_cast<uint32_t>(std::bit_width(std::ranges::max(some)));
      out += static_cast<char>(bits);
      // A part behind the last value is left out.
      if (at < count) pack(packed, std::span<const uint64_t>(some), bits);
    }
    out += packed;
  }
  return out;
}

ParquetWriter::ParquetWriter(const StringTable& names, std::vector<Column> columns, Sink& sink,
                             int zstd_level)
    : names_(names),
      columns_(std::move(columns)),
      sink_(sink),
      context_(ZSTD_createCCtx()),
      chunks_(columns_.size()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, zstd_level);
  // All readers verify it, unlike the sum in the header of a page.
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::put(size_t column, int64_t value) {
  Chunk& chunk = chunks_[column];
  const Column& of = columns_[column];
  if (!has_dictionary(of)) {
    chunk.values.push_back(value);
  } else {
    if (of.type == Type::text && (chunk.runs.empty() || chunk.runs.back().value != value))
      text_bytes_ += names_.text(static_cast<NameId>(value)).size() + 4;
    add(chunk.runs, value);
  }
  if (of.optional) add(chunk.exists, 1u);
}

void ParquetWriter::put_null(size_t column) {
  ++chunks_[column].nulls;
  add(chunks_[column].exists, 0u);
}

bool ParquetWriter::end_row() {
  ++rows_;
  const bool has_room = rows_ * static_cast<int64_t>(columns_.size()) < values_of_a_group;
  return (has_room && text_bytes_ < most_text_bytes) || flush();
}

bool ParquetWriter::write(std::string_view bytes) {
  at_ += static_cast<int64_t>(bytes.size());
  return sink_.write(bytes);
}

bool ParquetWriter::flush() {
  if (at_ == 0 && !write(magic)) return false;
  if (rows_ == 0) return true;
  Group group{rows_, std::vector<WrittenColumn>(columns_.size())};
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!write_column(i, group.columns[i])) return false;
    chunks_[i].runs.clear();
    chunks_[i].values.clear();
    chunks_[i].exists.clear();
    chunks_[i].nulls = 0;
  }
  groups_.push_back(std::move(group));
  rows_ = 0;
  text_bytes_ = 0;
  return true;
}

std::string ParquetWriter::plain(const Column& column, const std::vector<int64_t>& values) const {
  std::string bytes;
  for (const int64_t value : values) {
    if (column.type == Type::text) {
      const std::string& text = names_.text(static_cast<NameId>(value));
      bytes += little_endian(text.size(), 4) + text;
    } else {
      bytes += little_endian(static_cast<uint64_t>(value), is_int32(column.type) ? 4 : 8);
    }
  }
  return bytes;
}

bool ParquetWriter::write_column(size_t number, WrittenColumn& written) {
  const Column& column = columns_[number];
  const Chunk& chunk = chunks_[number];
  written.at = at_;
  written.nulls = chunk.nulls;
  const auto bound = [&](int64_t least, int64_t greatest) {
    written.bounded = true;
    written.least = least;
    written.greatest = greatest;
  };
  if (column.type != Type::text && !chunk.runs.empty()) {
    const auto [least, greatest] = std::ranges::minmax(chunk.runs, {}, &Run<int64_t>::value);
    bound(least.value, greatest.value);
  }
  if (!chunk.values.empty()) {
    const auto [least, greatest] = std::ranges::minmax(chunk.values);
    bound(least, greatest);
  }
  std::string body;
  if (column.optional) {
    std::vector<uint32_t> exists;
    for (const auto& [value, rows] : chunk.exists) exists.insert(exists.end(), rows, value);
    const std::string levels = rle_hybrid(exists, 1);
    body = little_endian(levels.size(), 4) + levels;
  }
  if (has_dictionary(column)) return write_dictionary(column, body, chunk, written);
  const bool differences = column.form == Form::differences;
  written.data_at = at_;
  body += differences ? packed_differences(chunk.values) : plain(column, chunk.values);
  return write_page(body, static_cast<int32_t>(rows_), false,
                    differences ? binary_differences : plain_values, written);
}

// Similar texts are neighbours then, and numbers grow.
void ParquetWriter::sort_dictionary(const Column& column, std::vector<int64_t>& dictionary,
                                    std::vector<uint32_t>& indices) const {
  std::vector<uint32_t> order(dictionary.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto name = [&](uint32_t i) -> const std::string& {
    return names_.text(static_cast<NameId>(dictionary[i]));
  };
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return column.type == Type::text ? name(a) < name(b) : dictionary[a] < dictionary[b];
  });
  std::vector<int64_t> sorted;
  std::vector<uint32_t> place(order.size());
  for (const uint32_t old : order) {
    place[old] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(dictionary[old]);
  }
  dictionary = std::move(sorted);
  for (uint32_t& index : indices) index = place[index];
}

// levels: which values are null, before the values.
bool ParquetWriter::write_dictionary(const Column& column, const std::string& levels,
                                     const Chunk& chunk, WrittenColumn& written) {
  std::unordered_map<int64_t, uint32_t> known;
  std::vector<int64_t> dictionary;
  std::vector<uint32_t> indices;
  indices.reserve(static_cast<size_t>(rows_ - chunk.nulls));
  for (const auto& [value, rows] : chunk.runs) {
    const auto [at, added] = known.try_emplace(value, static_cast<uint32_t>(dictionary.size()));
    if (added) dictionary.push_back(value);
    indices.insert(indices.end(), rows, at->second);
  }
  sort_dictionary(column, dictionary, indices);
  const uint32_t bits = index_bits(dictionary.size());
  written.dictionary = true;
  if (!write_page(plain(column, dictionary), static_cast<int32_t>(dictionary.size()), true,
                  plain_values, written))
    return false;
  written.data_at = at_;
  return write_page(levels + static_cast<char>(bits) + rle_hybrid(indices, bits),
                    static_cast<int32_t>(rows_), false, rle_dictionary, written);
}

bool ParquetWriter::write_page(std::string_view body, int32_t values, bool dictionary,
                               Encoding encoding, WrittenColumn& written) {
  packed_.resize(ZSTD_compressBound(body.size()));
  const size_t packed =
      ZSTD_compress2(context_.get(), packed_.data(), packed_.size(), body.data(), body.size());
  if (ZSTD_isError(packed)) return false;
  const std::string_view bytes(packed_.data(), packed);
  const uLong sum = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  ThriftWriter header;
  header.i32(1, dictionary ? 2 : 0);
  header.i32(2, static_cast<int32_t>(body.size()));
  header.i32(3, static_cast<int32_t>(packed));
  header.i32(4, static_cast<int32_t>(static_cast<uint32_t>(sum)));
  header.begin(dictionary ? 7 : 5);
  header.i32(1, values);
  header.i32(2, encoding);
  if (!dictionary) {
    header.i32(3, rle);
    header.i32(4, rle);
  }
  header.end();
  const std::string& head = header.finish();
  written.plain_bytes += static_cast<int64_t>(head.size() + body.size());
  written.written_bytes += static_cast<int64_t>(head.size() + packed);
  return write(head) && write(bytes);
}

std::string ParquetWriter::footer(const Metadata& metadata) const {
  using List = ThriftWriter::Type;
  ThriftWriter file;
  int64_t rows = 0;
  for (const Group& group : groups_) rows += group.rows;
  file.i32(1, 1);
  file.list(2, List::structure, columns_.size() + 1);
  file.begin_element();
  file.binary(4, "schema");
  file.i32(5, static_cast<int32_t>(columns_.size()));
  file.end();
  for (const Column& column : columns_) put_schema_element(file, column);
  file.i64(3, rows);
  file.list(4, List::structure, groups_.size());
  for (const Group& group : groups_) {
    int64_t bytes = 0;
    file.begin_element();
    file.list(1, List::structure, columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      const WrittenColumn& written = group.columns[i];
      bytes += written.plain_bytes;
      file.begin_element();
      file.i64(2, 0);
      file.begin(3);
      file.i32(1, physical(columns_[i].type));
      file.list(2, List::i32, 4);
      for (const Encoding encoding : {plain_values, rle, binary_differences, rle_dictionary})
        file.element(encoding);
      file.list(3, List::binary, 1);
      file.element(columns_[i].name);
      file.i32(4, zstd_codec);
      file.i64(5, group.rows);
      file.i64(6, written.plain_bytes);
      file.i64(7, written.written_bytes);
      file.i64(9, written.data_at);
      if (written.dictionary) file.i64(11, written.at);
      put_statistics(file, columns_[i].type, written.nulls, written.bounded, written.least,
                     written.greatest);
      file.end();
      file.end();
    }
    file.i64(2, bytes);
    file.i64(3, group.rows);
    file.end();
  }
  file.list(5, List::structure, metadata.size());
  for (const auto& [key, value] : metadata) {
    file.begin_element();
    file.binary(1, key);
    file.binary(2, value);
    file.end();
  }
  file.binary(6, "post (pitrace)");
  file.list(7, List::structure, columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    file.begin_element();
    file.begin(1);  // values are ordered as their type is
    file.end();
    file.end();
  }
  return file.finish();
}

bool ParquetWriter::finish(const Metadata& metadata) {
  if (!flush()) return false;
  const std::string end = footer(metadata);
  return write(end) && write(little_endian(end.size(), 4)) && write(magic);
}

}  // namespace post
