// SPDX-License-Identifier: MIT
// Reads the log of libheapit.
#include "heap_file.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "text_file.h"

namespace heapstats {
namespace {

using namespace pi::heap_log;

// A record at its place; nothing if it does not fit.
template <class T>
bool take(std::string_view bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

std::string words_of(std::string_view command) {
  while (command.ends_with('\0')) command.remove_suffix(1);
  std::string words(command);
  std::ranges::replace(words, '\0', ' ');
  return pi::printable(words);
}

class Reader {
 public:
  explicit Reader(HeapFile& file) : file_(file) {}

  // False: the record is damaged.
  bool take_record(std::string_view bytes, uint32_t type) {
    if (type == mapping) return take_mapping(bytes);
    if (type == pi::heap_log::path) return take_path(bytes);
    return false;
  }

 private:
  bool take_mapping(std::string_view bytes) {
    pi::heap_log::Mapping record;
    if (!take(bytes, record) || record.begin >= record.end) return false;
    std::string_view path = bytes.substr(sizeof record);
    path = path.substr(0, std::min(path.find('\0'), path.size()));
    if (path.empty()) return false;
    file_.mappings.push_back(
        {record.begin, record.end, record.offset, record.inode, std::string(path)});
    return true;
  }

  bool take_path(std::string_view bytes) {
    Path record;
    if (!take(bytes, record) || record.kind >= kinds || record.end > not_stored ||
        record.frames > max_frames ||
        bytes.size() - sizeof record < record.frames * sizeof(uint64_t))
      return false;
    StoredPath path{
        static_cast<Kind>(record.kind), static_cast<PathEnd>(record.end), {},
        file_.mappings.size(),          file_.addresses.size(),           record.frames};
    std::ranges::copy(record.number, path.number.begin());
    file_.addresses.resize(path.first + path.frames);
    if (path.frames != 0)
      std::memcpy(file_.addresses.data() + path.first, bytes.data() + sizeof record,
                  path.frames * sizeof(uint64_t));
    file_.paths.push_back(path);
    return true;
  }

  HeapFile& file_;
};

}  // namespace

pi::Result<HeapFile> parse_heap_file(std::string_view bytes, const std::string& path) {
  HeapFile file;
  file.path = pi::printable(path);
  Header header;
  if (!take(bytes, header) || header.magic != magic || header.header_bytes < sizeof header ||
      header.header_bytes % alignment != 0)
    return pi::Error{-1, fmt::format("{} is no log of run.heap.", file.path)};
  file.pid = header.pid;
  file.begin_ns = header.begin_ns;
  file.recorded_ns = header.recorded_ns;
  file.earlier_frees = header.earlier_frees;
  file.command =
      words_of({header.command, std::min<size_t>(header.command_bytes, sizeof header.command)});
  file.live_bytes = header.live_bytes;
  file.peak_bytes = header.peak_bytes;
  file.search = static_cast<Search>(std::min<uint64_t>(header.search, searches));
  file.search_ns = header.search_ns;
  file.search_limit_ns = header.search_limit;
  file.searched_bytes = header.searched_bytes;
  std::ranges::copy(header.lost, file.lost.begin());
  if (header.used_bytes > bytes.size()) file.damage = "it is cut off";
  const std::string_view used =
      bytes.substr(0, std::min<uint64_t>(header.used_bytes, bytes.size()));
  Reader reader(file);
  for (size_t at = header.header_bytes; at < used.size();) {
    Record record;
    const std::string_view rest = used.substr(at);
    if (!take(rest, record) || record.bytes < sizeof record || record.bytes > rest.size() ||
        record.bytes % alignment != 0 ||
        !reader.take_record(rest.substr(0, record.bytes), record.type)) {
      if (file.damage.empty()) file.damage = fmt::format("the record at byte {} is damaged", at);
      break;
    }
    at += record.bytes;
  }
  return file;
}

pi::Result<HeapFile> read_heap_file(const std::string& path) {
  const auto bytes = pi::read_text_file(path, max_file_bytes);
  if (!bytes) return bytes.error();
  return parse_heap_file(*bytes, path);
}

}  // namespace heapstats
