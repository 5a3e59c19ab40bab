// SPDX-License-Identifier: MIT
// Reads jitdump files, in which a runtime describes its JIT-compiled code for perf.
#include "jit_dump.h"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/budgets.h"
#include "base/safe_file.h"
#include "pi/files.h"

namespace a2n {
namespace {

constexpr uint32_t magic = 0x4a695444;  // "JiTD"
constexpr uint32_t magic_swapped = 0x4454694a;
constexpr uint32_t known_version = 1;
constexpr uint64_t flag_processor_clock = 1;
constexpr uint32_t max_record_size = 1 << 28;

enum Kind : uint32_t { code_load, code_move, code_debug_info, code_close, code_unwinding };

// Reads the fields of a record in order; the first missing field makes good() false.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number take() {
    Number value{};
    if (bytes_.size() < sizeof value) {
      good_ = false;
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view take_text() {
    const size_t end = bytes_.find('\0');
    good_ = good_ && end != bytes_.npos;
    if (!good_) return {};
    const std::string_view text = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 1);
    return text;
  }
  std::string_view rest() const { return bytes_; }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

struct Header {
  uint32_t size = 0;
  uint32_t machine = 0;
  uint32_t pid = 0;
  uint64_t flags = 0;
};

class Reader {
 public:
  Reader(bool with_code, Interner& interner, JitCode& code)
      : with_code_(with_code), interner_(interner), code_(code) {}

  // Processes a record's body; false if it is invalid.
  bool record(uint32_t kind, uint64_t time, std::string_view body) {
    Fields fields(body);
    switch (kind) {
      case code_load:
        return load(time, fields);
      case code_move:
        return move(time, fields);
      case code_debug_info:
        return debug_info(fields);
      default:
        return true;  // unwinding information, and records of later versions
    }
  }

 private:
  bool load(uint64_t time, Fields& fields) {
    fields.take<uint32_t>();  // pid
    fields.take<uint32_t>();  // tid
    fields.take<uint64_t>();  // vma, equal to the address
    JitMethod method;
    method.address = fields.take<uint64_t>();
    method.size = fields.take<uint64_t>();
    fields.take<uint64_t>();  // code_index
    const std::string_view name = fields.take_text();
    if (!fields.good() || name.empty() || method.size > UINT64_MAX - method.address) return false;
    if (method.size == 0) return true;
    method.time = time;
    method.name = interner_.add(name);
    if (auto lines = lines_.extract(method.address); !lines.empty()) {
      JitSource source;
      source.set_lines(std::move(lines.mapped()));
      method.source = std::make_shared<const JitSource>(std::move(source));
    }
    if (with_code_ && fields.rest().size() >= method.size)
      method.code = std::make_shared<const std::string>(fields.rest().substr(0, method.size));
    live_[method.address] = code_.methods();
    code_.load(std::move(method));
    return true;
  }

  bool move(uint64_t time, Fields& fields) {
    fields.take<uint32_t>();  // pid
    fields.take<uint32_t>();  // tid
    fields.take<uint64_t>();  // vma, equal to the new address
    const uint64_t from = fields.take<uint64_t>();
    const uint64_t to = fields.take<uint64_t>();
    const uint64_t size = fields.take<uint64_t>();
    if (!fields.good()) return false;
    const auto known = live_.extract(from);
    if (known.empty() || size == 0 || size > UINT64_MAX - to) return false;
    JitMethod method = code_.method(known.mapped());
    code_.unload(time, from);
    method.address = to;
    method.size = size;
    method.time = time;
    live_[to] = code_.methods();
    code_.load(std::move(method));
    return true;
  }

  // Stores source lines for the next load record with that address.
  bool debug_info(Fields& fields) {
    const uint64_t address = fields.take<uint64_t>();
    const uint64_t count = fields.take<uint64_t>();
    std::vector<JitSource::Line> lines;
    const char* file = nullptr;
    for (uint64_t i = 0; i < count && fields.good(); ++i) {
      const uint64_t at = fields.take<uint64_t>();
      const uint32_t line = fields.take<uint32_t>();
      fields.take<uint32_t>();  // discriminator
      const std::string_view name = fields.take_text();
      if (!fields.good()) break;
      if (name != same_file) file = interner_.add(name);
      if (at >= address && at - address <= UINT32_MAX)
        lines.push_back({static_cast<uint32_t>(at - address), line, file});
    }
    lines_.insert_or_assign(address, std::move(lines));
    return fields.good();
  }

  static constexpr std::string_view same_file = "\xff";

  const bool with_code_;
  Interner& interner_;
  JitCode& code_;
  // By address: the lines of code whose load record follows.
  std::unordered_map<uint64_t, std::vector<JitSource::Line>> lines_;
  // By address: the number of the method, for move records.
  std::unordered_map<uint64_t, size_t> live_;
};

// Reads at most size bytes, fewer at the end of the file; false on an error, with errno set.
bool read_up_to(int fd, std::string& out, size_t size) {
  out.resize(size);
  const auto got = pi::read_on(fd, std::as_writable_bytes(std::span(out)));
  out.resize(got.bytes);
  errno = got.error;
  return got.error == 0;
}

// whole: size of the file in bytes.
pi::Result<Header> read_header(int fd, const std::string& path, uint64_t whole) {
  std::string bytes;
  if (!read_up_to(fd, bytes, 40)) return pi::Error{errno, path + ": " + std::strerror(errno)};
  Fields fields(bytes);
  Header header;
  const uint32_t mark = fields.take<uint32_t>();
  const uint32_t version = fields.take<uint32_t>();
  header.size = fields.take<uint32_t>();
  header.machine = fields.take<uint32_t>();
  fields.take<uint32_t>();  // padding
  header.pid = fields.take<uint32_t>();
  fields.take<uint64_t>();  // creation time of the file
  header.flags = fields.take<uint64_t>();
  if (mark == magic_swapped)
    return pi::Error{EINVAL, path + ": it is of a machine with another order of bytes"};
  if (!fields.good() || mark != magic || header.size < bytes.size() || header.size > whole)
    return pi::Error{EINVAL, path + ": it is not a jitdump file"};
  if (version != known_version)
    return pi::Error{EINVAL,
                     path + ": jitdump version " + std::to_string(version) + " is not known"};
  if (header.machine != EM_X86_64 && header.machine != EM_386)
    return pi::Error{EINVAL, path + ": it is of another kind of machine"};
  if (!read_up_to(fd, bytes, header.size - bytes.size()))
    return pi::Error{errno, path + ": " + std::strerror(errno)};
  return header;
}

}  // namespace

pi::Status read_jit_dump(int fd, const std::string& name, uint32_t pid, bool with_code,
                         Interner& interner, Notes& notes, JitCode& code) {
  const auto whole = size_within(fd, name, budgets::jit_dump);
  if (!whole) return whole.error();
  const auto header = read_header(fd, name, *whole);
  if (!header) return header.error();
  if (pid != 0 && header->pid != pid)
    return pi::Error{EINVAL, name + ": it is of a process " + std::to_string(header->pid)};
  JitCode read;
  Reader reader(with_code, interner, read);
  size_t invalid = 0;
  uint64_t invalid_bytes = 0;
  const auto cut_off = [&](uint64_t have, uint64_t wanted) {
    notes.add(name + ": it is cut off in a record of " + std::to_string(wanted) + " bytes; " +
              std::to_string(have) + " bytes are not used, and the code that is described from " +
              "there on has no name");
  };
  std::string bytes;
  // Data that the runtime appends meanwhile is not read.
  uint64_t left = *whole - std::min<uint64_t>(*whole, header->size);
  while (left != 0) {
    // The last record is incomplete if the runtime was killed or is still writing.
    if (left < 16 || !read_up_to(fd, bytes, 16) || bytes.size() != 16) {
      cut_off(left, 16);
      break;
    }
    Fields fields(bytes);
    const uint32_t kind = fields.take<uint32_t>();
    const uint32_t size = fields.take<uint32_t>();
    const uint64_t time = fields.take<uint64_t>();
    if (kind == code_close) break;
    if (size < 16 || size > max_record_size) {
      notes.add_damage(name + ": a record's length makes no sense; from there on " +
                           std::to_string(left) + " bytes are not read",
                       left);
      break;
    }
    std::string body;
    if (size > left || !read_up_to(fd, body, size - 16) || body.size() != size - 16) {
      cut_off(left, size);
      break;
    }
    left -= size;
    if (reader.record(kind, time, body)) continue;
    ++invalid;
    invalid_bytes += size;
  }
  if (invalid != 0)
    notes.add_damage(name + ": " + std::to_string(invalid) + " records (" +
                         std::to_string(invalid_bytes) + " bytes) make no sense and are ignored",
                     invalid_bytes);
  if ((header->flags & flag_processor_clock) != 0) {
    read.ignore_times();
    notes.add(name +
              ": its times are the processor's and cannot be compared with the trace's; where code "
              "took the place of other code its names may be wrong");
  }
  code = std::move(read);
  return {};
}

}  // namespace a2n
