// SPDX-License-Identifier: MIT
// Writes Apache Parquet files of flat tables: row groups whose columns are dictionaries,
// differences or plain values, each one page, compressed by zstd, with a checksum.
#ifndef POST_PARQUET_H
#define POST_PARQUET_H

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/sink.h"
#include "text/string_table.h"

namespace post {

// The format is that of parquet-format 2.11 (parquet.thrift, Encodings.md); nothing of it is used
// that readers of format 1 lack, but zstd and the differences.
class ParquetWriter {
 public:
  enum class Type : uint8_t { int32, int64, timestamp, text };  // timestamp: microseconds, UTC
  // How the values of a column are stored. Texts always have a dictionary.
  enum class Form : uint8_t {
    plain,
    dictionary,   // values repeat
    differences,  // from value to value, which are small; an int32 is not negative
  };
  struct Column {
    std::string_view name;
    Type type = Type::text;
    bool optional = false;  // can be null
    Form form = Form::plain;
  };
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  // Levels of zstd. Files that are kept are smaller by a tenth with 17; beyond it only takes longer
  // (bench/README.md).
  static constexpr int small = 17;
  static constexpr int quick = 3;

  // Both must outlive this. Texts are numbers of names.
  ParquetWriter(const StringTable& names, std::vector<Column> columns, Sink& sink,
                int zstd_level = small);
  ~ParquetWriter();
  ParquetWriter(const ParquetWriter&) = delete;
  ParquetWriter& operator=(const ParquetWriter&) = delete;

  size_t columns() const { return columns_.size(); }
  // One value of each column makes a row, in any order. An int32 must fit.
  void put(size_t column, int64_t value);
  void put_null(size_t column);
  // False when the sink failed.
  bool end_row();
  // To be called once, after the last row.
  bool finish(const Metadata& metadata);

 private:
  // As many equal values in a row.
  template <class Value>
  struct Run {
    Value value;
    uint32_t rows;
  };
  template <class Value>
  static void add(std::vector<Run<Value>>& runs, Value value) {
    if (!runs.empty() && runs.back().value == value)
      ++runs.back().rows;
    else
      runs.push_back({value, 1});
  }
  // Of the row group that is being filled.
  struct Chunk {
    std::vector<Run<int64_t>> runs;     // of a column with a dictionary; without nulls
    std::vector<int64_t> values;        // of any other, the same
    std::vector<Run<uint32_t>> exists;  // for each row: 1, or 0 for null
    int64_t nulls = 0;
  };
  static bool has_dictionary(const Column& column) {
    return column.form == Form::dictionary || column.type == Type::text;
  }
  struct WrittenColumn {
    int64_t at = 0;             // offset in the file
    int64_t data_at = 0;        // of the data page
    bool dictionary = false;    // the first page is one
    int64_t plain_bytes = 0;    // with headers, before compression
    int64_t written_bytes = 0;  // with headers
    int64_t nulls = 0;
    bool bounded = false;  // the next two are known
    int64_t least = 0;
    int64_t greatest = 0;
  };
  struct Group {
    int64_t rows = 0;
    std::vector<WrittenColumn> columns;
  };
  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  bool write(std::string_view bytes);
  bool flush();
  bool write_column(size_t number, WrittenColumn& written);
  enum Encoding : int32_t { plain_values = 0, rle = 3, binary_differences = 5, rle_dictionary = 8 };
  void sort_dictionary(const Column& column, std::vector<int64_t>& dictionary,
                       std::vector<uint32_t>& indices) const;
  bool write_dictionary(const Column& column, const std::string& levels, const Chunk& chunk,
                        WrittenColumn& written);
  bool write_page(std::string_view body, int32_t values, bool dictionary, Encoding encoding,
                  WrittenColumn& written);
  std::string plain(const Column& column, const std::vector<int64_t>& values) const;
  std::string footer(const Metadata& metadata) const;

  const StringTable& names_;
  const std::vector<Column> columns_;
  Sink& sink_;
  std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
  std::string packed_;
  std::vector<Chunk> chunks_;
  int64_t rows_ = 0;       // of the row group that is being filled
  size_t text_bytes_ = 0;  // the most that its dictionaries can have
  std::vector<Group> groups_;
  int64_t at_ = 0;  // bytes written
};

// Parquet's hybrid of runs and packed values of a fixed number of bits, at most 32.
std::string rle_hybrid(const std::vector<uint32_t>& values, uint32_t bits);
// Parquet's DELTA_BINARY_PACKED.
std::string packed_differences(const std::vector<int64_t>& values);

}  // namespace post

#endif  // POST_PARQUET_H
