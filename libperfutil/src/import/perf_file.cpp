// SPDX-License-Identifier: MIT
// Reads the head of a recording of perf (perf.data): its events, and what it says about the
// machine.
#include "perf_file.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/hex.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr char magic[] = "PERFILE2";
constexpr char swapped_magic[] = "2ELIFREP";
constexpr size_t magic_bytes = 8;
constexpr size_t pipe_head_bytes = 16;

namespace head {  // of a file
constexpr size_t size = 8, attr_size = 16, attrs = 24, data = 40, features = 72, bytes = 104;
}
constexpr size_t place_bytes = 16;  // an offset and a size
constexpr size_t feature_count = 256;
constexpr uint64_t max_attrs_bytes = 64 << 20;
constexpr uint64_t max_feature_bytes = 64 << 20;

struct Section {
  uint64_t offset = 0;
  uint64_t size = 0;
};

Section section_at(Bytes bytes, size_t offset) {
  return {number_at<uint64_t>(bytes, offset), number_at<uint64_t>(bytes, offset + 8)};
}

Error refused(std::string message) {
  return {PU_ERROR_FILE, std::move(message)};
}

// A list of numbers and texts, as feature sections have them.
class FeatureReader {
 public:
  explicit FeatureReader(Bytes bytes) : bytes_(bytes) {}

  uint32_t number() {
    const Bytes place = take(4);
    return good_ ? number_at<uint32_t>(place, 0) : 0;
  }
  // Its length, then as many bytes, with zeros at the end.
  std::string text() {
    const Bytes place = take(number());
    return good_ ? text_at(place, 0) : std::string();
  }
  Bytes take(uint64_t size) {
    good_ = good_ && size <= bytes_.size();
    if (!good_) return {};
    const Bytes taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  bool good() const { return good_; }

 private:
  Bytes bytes_;
  bool good_ = true;
};

// For each event its attributes, how many ids it has, its name, and the ids.
bool take_event_names(FeatureReader& in, EventTable& events) {
  const uint32_t count = in.number();
  const uint32_t attr_bytes = in.number();
  for (uint32_t i = 0; i < count && in.good(); ++i) {
    (void)in.take(attr_bytes);
    const uint64_t ids = in.number();
    std::string name = in.text();
    (void)in.take(ids * sizeof(uint64_t));
    if (in.good()) events.set_name(i, std::move(name));
  }
  return in.good();
}

class HeadReader {
 public:
  HeadReader(int fd, uint64_t size) : fd_(fd), size_(size) {}

  Result<PerfFile> read() {
    std::array<std::byte, head::bytes> bytes{};
    const size_t got = read_at(fd_, 0, bytes).bytes;
    const auto is = [&](const char* word) {
      return got >= magic_bytes && std::memcmp(bytes.data(), word, magic_bytes) == 0;
    };
    if (is(swapped_magic))
      return refused(
          "was recorded on a big-endian machine; only recordings of little-endian ones are read.");
    if (!is(magic)) return refused("is no recording of perf (it does not begin with PERFILE2).");
    if (got < pipe_head_bytes) return cut_short();
    const auto head_size = number_at<uint64_t>(bytes, head::size);
    if (head_size == pipe_head_bytes) {
      file_.piped = true;
      file_.begin = pipe_head_bytes;
      file_.end = size_;
      return std::move(file_);
    }
    if (head_size > bytes.size() || head_size < head::features || got < head_size)
      return got < bytes.size() ? cut_short() : refused("has a head of an unknown size.");
    if (const Status read = read_attrs(bytes); !read) return read.error();
    place_data(section_at(bytes, head::data));
    if (head_size == bytes.size()) read_features(bytes);
    return std::move(file_);
  }

 private:
  static Error cut_short() { return refused("ends within its head; nothing can be read."); }

  std::optional<std::vector<std::byte>> read_section(const Section& section, uint64_t limit) {
    if (section.size > limit || section.offset > size_ || section.size > size_ - section.offset)
      return std::nullopt;
    std::vector<std::byte> bytes(section.size);
    if (read_at(fd_, section.offset, bytes).bytes != bytes.size()) return std::nullopt;
    return bytes;
  }

  // Each entry has an event's attributes and the section of its ids.
  Status read_attrs(Bytes header) {
    const auto entry = number_at<uint64_t>(header, head::attr_size);
    const Section attrs = section_at(header, head::attrs);
    const auto bytes = read_section(attrs, max_attrs_bytes);
    if (!bytes || entry <= place_bytes || attrs.size % entry != 0)
      return refused("is damaged: its list of events cannot be read.");
    for (uint64_t at = 0; at < attrs.size; at += entry) {
      const Bytes each = Bytes(*bytes).subspan(at, entry);
      const auto attr = EventTable::parse_attr(each.first(entry - place_bytes));
      const Section place = section_at(each, entry - place_bytes);
      const auto ids = read_section(place, max_attrs_bytes);
      if (!attr || !ids || ids->size() % sizeof(uint64_t) != 0)
        return refused("is damaged: its list of events cannot be read.");
      std::vector<uint64_t> numbers(ids->size() / sizeof(uint64_t));
      if (!numbers.empty()) std::memcpy(numbers.data(), ids->data(), ids->size());
      if (!file_.events.add(*attr, numbers)) return refused("has too many events.");
    }
    return {};
  }

  // perf writes the size at its end. Without it the records reach to the end of the file.
  void place_data(const Section& data) {
    file_.begin = std::min(data.offset, size_);
    file_.cut_off = data.size == 0 || data.offset > size_ || data.size > size_ - data.offset;
    file_.end = file_.cut_off ? size_ : data.offset + data.size;
  }

  // A list of their places follows the records, in the order of their numbers.
  void read_features(Bytes header) {
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < feature_count; ++i) {
      const auto word = number_at<uint64_t>(header, head::features + i / 64 * 8);
      if ((word >> i % 64 & 1) == 0) continue;
      numbers.push_back(i);
      file_.has_counts |= static_cast<PerfFeature>(i) == PerfFeature::counts;
      file_.has_tracer_data |= static_cast<PerfFeature>(i) == PerfFeature::tracer_data;
    }
    if (file_.cut_off) return;
    // perf always writes some.
    file_.bad_features = numbers.empty() && file_.end < size_;
    const auto places = read_section({file_.end, numbers.size() * place_bytes}, SIZE_MAX);
    file_.cut_off = !places;
    for (size_t i = 0; places && i < numbers.size(); ++i) {
      const Section place = section_at(*places, i * place_bytes);
      if (!is_used(numbers[i])) continue;
      if (const auto content = read_section(place, max_feature_bytes))
        file_.take_feature(numbers[i], *content);
      else
        file_.bad_features = true;
    }
  }

  static bool is_used(uint32_t number) {
    switch (static_cast<PerfFeature>(number)) {
      case PerfFeature::tracing_data:
      case PerfFeature::directory:
      case PerfFeature::build_id:
      case PerfFeature::hostname:
      case PerfFeature::os_release:
      case PerfFeature::architecture:
      case PerfFeature::cpu_count:
      case PerfFeature::event_names:
        return true;
      default:
        return false;
    }
  }

  int fd_;
  uint64_t size_;
  PerfFile file_;
};

// Records without a process id's meaning: a header, a pid, 20 bytes, their number, and a path.
namespace id_record {
constexpr size_t id = header_bytes + 4, size = id + 20, path = id + 24;
constexpr uint16_t has_size = 1 << 15;
}  // namespace id_record

}  // namespace

constexpr size_t max_build_ids = 1 << 16, max_path = 4096;

std::string text_at(Bytes bytes, size_t offset) {
  if (offset >= bytes.size()) return {};
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {text, ::strnlen(text, bytes.size() - offset)};
}

void PerfFile::take_build_id(Bytes record) {
  constexpr size_t longest = 20;
  if (record.size() <= id_record::path) {
    bad_features = true;
    return;
  }
  const auto header = number_at<perf_event_header>(record, 0);
  size_t size = longest;
  if ((header.misc & id_record::has_size) != 0)
    size = std::min<size_t>(number_at<uint8_t>(record, id_record::size), longest);
  add_build_id(text_at(record, id_record::path), to_hex(record.subspan(id_record::id, size)));
}

// Their number, and for each its id, and its name.
void PerfFile::take_thread_map(Bytes record) {
  constexpr size_t number = header_bytes, first = number + 8, each = 24;
  if (record.size() < first + each || number_at<uint64_t>(record, number) == 0) return;
  threads = number_at<uint64_t>(record, first) == UINT64_MAX ? Threads::of_cpus : Threads::named;
}

bool PerfFile::is_of_this_host(bool and_kernel) const {
  utsname here{};
  if (host.empty() && !and_kernel) return true;
  return ::uname(&here) == 0 && host == here.nodename && machine == here.machine &&
         (!and_kernel || kernel == here.release);
}

void PerfFile::add_mapped_file(std::string path, uint64_t inode) {
  if (path.starts_with('/') && !path.starts_with("//") && inode != 0 && path.size() <= max_path &&
      mapped_files.size() < max_build_ids)
    mapped_files.emplace(std::move(path), inode);
}

void PerfFile::add_build_id(std::string path, std::string id) {
  if (path.empty() || path.size() > max_path || id.empty() || build_ids.size() >= max_build_ids)
    return;
  const auto [place, is_new] = build_ids.try_emplace(std::move(path), id);
  if (!is_new && place->second != id) place->second = "?";
}

void PerfFile::take_feature(uint32_t number, Bytes content) {
  FeatureReader in(content);
  switch (static_cast<PerfFeature>(number)) {
    case PerfFeature::tracing_data:
      tracepoints = TracepointFormats::read(content);
      return;
    case PerfFeature::directory:
      if (content.size() >= sizeof(uint64_t)) directory_version = number_at<uint64_t>(content, 0);
      return;
    case PerfFeature::hostname:
      host = in.text();
      break;
    case PerfFeature::os_release:
      kernel = in.text();
      break;
    case PerfFeature::architecture:
      machine = in.text();
      break;
    case PerfFeature::cpu_count:
      (void)in.number();  // that there can be
      cpus = in.number();
      break;
    case PerfFeature::event_names:
      (void)take_event_names(in, events);
      break;
    case PerfFeature::build_id:
      while (content.size() >= header_bytes) {
        const auto header = number_at<perf_event_header>(content, 0);
        const size_t size = std::min<size_t>(header.size, content.size());
        if (size < sizeof header) break;
        take_build_id(content.first(size));
        content = content.subspan(size);
      }
      return;
    default:
      return;
  }
  bad_features = bad_features || !in.good();
}

Result<PerfFile> read_perf_file(int fd, uint64_t size) {
  return HeadReader(fd, size).read();
}

}  // namespace pi::perfutil
