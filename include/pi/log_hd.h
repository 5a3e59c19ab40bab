// SPDX-License-Identifier: MIT
// log-hd: a heap dump of a Java virtual machine (.hprof), compressed, with facts on the JVM that
// the dump lacks. log-hd(5) is the definition. Part of the static library pi_log_hd.
#ifndef PI_LOG_HD_H
#define PI_LOG_HD_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pi/budget.h>
#include <pi/files.h>
#include <pi/result.h>

// Of zstd.h, which users of this file do not need.
struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace pi::log_hd {

// Sizes of objects in HotSpot, in bytes.
struct Layout {
  unsigned header = 12;             // before the first field
  unsigned array_header = 16;       // before the first element of an array, with the length
  unsigned wide_array_header = 16;  // the same where elements have 8 bytes
  unsigned reference = 4;
  unsigned alignment = 8;  // of objects
  bool operator==(const Layout&) const = default;
};

// In bytes, with padding.
struct ClassSizes {
  uint32_t instance = 0;  // an object of the class; 0: unknown, or no fixed size
  uint32_t object = 0;    // the class as an object; 0: unknown
  bool operator==(const ClassSizes&) const = default;
};

struct Facts {
  std::string agent;  // version of JProf
  std::string jvm;    // name and version
  uint32_t pid = 0;
  uint64_t time_ms = 0;          // when the dump began, since 1970
  std::string class_pointers;    // of headers: "compressed", "compact" (in the header) or "full"
  std::optional<Layout> layout;  // none if the JVM did not show it
  // By name as in the JVM, "java/lang/String". Where class loaders have different classes of one
  // name, both sizes are 0.
  std::map<std::string, ClassSizes, std::less<>> classes;

  void add_class(std::string_view name, const ClassSizes& sizes);
};

// A file that begins with this number, little-endian, can be a log-hd.
constexpr uint32_t head_magic = 0x184d2a58;
constexpr size_t frame_bytes = 1 << 20;  // of the dump, in each frame

// Writes a log-hd to a descriptor, from its position on. Errors: an error number, and the reason.
class Writer {
 public:
  static Result<Writer> begin(int fd, const Facts& facts);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) = delete;
  ~Writer();

  // The next bytes of the dump.
  Status add(std::span<const std::byte> bytes);
  // To be called after the last one: without it the file counts as incomplete.
  Status finish();

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  explicit Writer(int fd);
  Result<std::span<const std::byte>> pack(std::span<const std::byte> bytes);
  Status put_skippable(uint32_t magic, std::string_view text);
  Status put_frame();

  int fd_;
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<std::byte> frame_;   // bytes that wait for their frame
  std::vector<std::byte> packed_;  // the last compressed frame
  uint64_t frames_ = 0;
  uint64_t bytes_ = 0;
};

// Writes the whole file `dump` as log-hd to fd. The error's code is an error number.
Status write(int dump, int fd, const Facts& facts);
// Reads the log-hd again and compares it with the file. The error's message is only the reason.
Status compare(int fd, int dump);

// How many bytes of a dump a log-hd may have: zeros are compressed to a 25,000th, and a hostile
// file has nothing else.
inline constexpr Budget dump_bytes{uint64_t{4} << 30, 1024};

class Reader {
 public:
  // Fills the bytes from an offset of the file, as pi::read_at().
  using ReadAt = std::function<Transferred(uint64_t offset, std::span<std::byte> bytes)>;

  // file_bytes: its stored size, for the limit. The error's message is a sentence.
  static Result<Reader> open(ReadAt read, uint64_t file_bytes, const Budget& limit = dump_bytes);
  static Result<Reader> open(int fd);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) = delete;
  ~Reader();

  const Facts& facts() const { return facts_; }
  // The next bytes of the dump, which were checked; they are valid until the next call. None at the
  // end, and where the rest is damaged or missing, which error() describes.
  std::span<const std::byte> next();
  const std::string& error() const { return error_; }
  // Bytes of the file that were read, for progress.
  uint64_t file_position() const { return position_; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  Reader(ReadAt read, uint64_t limit);
  bool need(size_t bytes);
  std::span<const std::byte> buffered() const;
  void advance(size_t bytes);
  std::span<const std::byte> fail(std::string why);
  std::optional<std::string> skippable(uint32_t& magic);
  std::optional<std::string> unpack_text(std::span<const std::byte> packed);
  bool end(std::string_view text);

  ReadAt read_;
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  Facts facts_;
  std::string error_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0, end_ = 0;
  std::vector<std::byte> frame_;
  uint64_t position_ = 0;  // of buffer_'s end in the file
  uint64_t frames_ = 0, bytes_ = 0;
  uint64_t limit_;
  bool ended_ = false;
};

}  // namespace pi::log_hd

#endif  // PI_LOG_HD_H
