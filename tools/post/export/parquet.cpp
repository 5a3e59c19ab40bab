// SPDX-License-Identifier: MIT
// Writes Apache Parquet files. The numbers of fields and constants are those of parquet.thrift.
#include "parquet.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <new>
#include <unordered_map>

#include "thrift.h"

namespace post {
namespace {

using Type = ParquetWriter::Type;

constexpr int64_t rows_of_a_group = 1 << 17;
constexpr size_t most_text_bytes = size_t{32} << 20;  // of the dictionaries of a row group
constexpr std::string_view magic = "PAR1";

enum Encoding : int32_t { plain_values = 0, rle = 3, rle_dictionary = 8 };
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

constexpr size_t least_run = 8;

// Packs values from first to end, padded with zeros to a multiple of eight.
void pack(std::string& out, const std::vector<uint32_t>& values, size_t first, size_t end,
          uint32_t bits) {
  const size_t groups = (end - first + 7) / 8;
  put_varint(out, groups << 1 | 1);
  uint64_t waiting = 0;
  uint32_t filled = 0;
  for (size_t i = first; i < first + groups * 8; ++i) {
    waiting |= uint64_t{i < end ? values[i] : 0} << filled;
    for (filled += bits; filled >= 8; filled -= 8, waiting >>= 8) out += static_cast<char>(waiting);
  }
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
    pack(out, values, at, end, bits);
    at = end;
  }
  return out;
}

ParquetWriter::ParquetWriter(const StringTable& names, std::vector<Column> columns, Sink& sink)
    : names_(names),
      columns_(std::move(columns)),
      sink_(sink),
      context_(ZSTD_createCCtx()),
      chunks_(columns_.size()) {
  if (!context_) throw std::bad_alloc();
}

ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::put(size_t column, int64_t value) {
  Chunk& chunk = chunks_[column];
  if (columns_[column].type == Type::text && (chunk.values.empty() || chunk.values.back() != value))
    text_bytes_ += names_.text(static_cast<NameId>(value)).size() + 4;
  chunk.values.push_back(value);
  if (columns_[column].optional) chunk.exists.push_back(1);
}

void ParquetWriter::put_null(size_t column) {
  chunks_[column].exists.push_back(0);
}

bool ParquetWriter::end_row() {
  ++rows_;
  return (rows_ < rows_of_a_group && text_bytes_ < most_text_bytes) || flush();
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
    chunks_[i].values.clear();
    chunks_[i].exists.clear();
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
  written.nulls = rows_ - static_cast<int64_t>(chunk.values.size());
  if (column.type != Type::text && !chunk.values.empty()) {
    written.bounded = true;
    const auto [least, greatest] = std::ranges::minmax(chunk.values);
    written.least = least;
    written.greatest = greatest;
  }
  std::string body;
  if (column.optional) {
    const std::string levels = rle_hybrid(chunk.exists, 1);
    body = little_endian(levels.size(), 4) + levels;
  }
  written.dictionary = column.dictionary || column.type == Type::text;
  if (!written.dictionary) {
    written.data_at = at_;
    return write_page(body + plain(column, chunk.values), static_cast<int32_t>(rows_), false, false,
                      written);
  }
  std::unordered_map<int64_t, uint32_t> known;
  std::vector<int64_t> dictionary;
  std::vector<uint32_t> indices;
  indices.reserve(chunk.values.size());
  for (const int64_t value : chunk.values) {
    if (!indices.empty() && dictionary[indices.back()] == value) {
      indices.push_back(indices.back());
      continue;
    }
    const auto [at, added] = known.try_emplace(value, static_cast<uint32_t>(dictionary.size()));
    if (added) dictionary.push_back(value);
    indices.push_back(at->second);
  }
  const auto bits = std::max<uint32_t>(
      1, static_cast<uint32_t>(std::bit_width(std::max<size_t>(dictionary.size(), 1) - 1)));
  if (!write_page(plain(column, dictionary), static_cast<int32_t>(dictionary.size()), true, false,
                  written))
    return false;
  written.data_at = at_;
  return write_page(body + static_cast<char>(bits) + rle_hybrid(indices, bits),
                    static_cast<int32_t>(rows_), false, true, written);
}

bool ParquetWriter::write_page(std::string_view body, int32_t values, bool dictionary,
                               bool by_dictionary, WrittenColumn& written) {
  packed_.resize(ZSTD_compressBound(body.size()));
  const size_t packed = ZSTD_compressCCtx(context_.get(), packed_.data(), packed_.size(),
                                          body.data(), body.size(), 3);
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
  header.i32(2, by_dictionary ? rle_dictionary : plain_values);
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
      file.list(2, List::i32, 3);
      for (const int32_t encoding : {plain_values, rle, rle_dictionary}) file.element(encoding);
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
