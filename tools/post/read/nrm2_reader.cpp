// SPDX-License-Identifier: MIT
// Reads the layout of an nrm2 file: joins its sections to streams.
#include "nrm2_reader.h"

#include <fmt/format.h>
#include <pi/nrm2.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "budgets.h"

namespace post {
namespace {

namespace nrm2 = pi::nrm2;

constexpr uint32_t cpu_limit = 0x10000;       // far more than any Linux kernel has
constexpr uint64_t text_limit = 64ull << 20;  // of an info or build-id section, bytes

constexpr std::string_view perf_magic = "PERFILE2";

using HeaderBytes = std::array<std::byte, nrm2::header_size>;

uint64_t number_at(const HeaderBytes& header, size_t offset, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;)
    value = value << 8 | std::to_integer<uint64_t>(header[offset + i]);
  return value;
}

uint32_t word_at(const HeaderBytes& header, size_t offset) {
  return static_cast<uint32_t>(number_at(header, offset, 4));
}

bool has_magic(const HeaderBytes& header) {
  return std::memcmp(header.data() + nrm2::offset::magic, nrm2::magic, sizeof nrm2::magic) == 0;
}

// Returns whether these bytes can be a section's header.
bool is_header(const HeaderBytes& header) {
  return has_magic(header) && word_at(header, nrm2::offset::endian) == nrm2::endian_mark &&
         word_at(header, nrm2::offset::header_size) == nrm2::header_size &&
         word_at(header, nrm2::offset::cpu) < cpu_limit;
}

class LayoutReader {
 public:
  LayoutReader(ByteSource& source, DamageLog& damage)
      : source_(source), damage_(damage), end_(source.size()) {}

  pi::Result<TraceFile> read() {
    if (const pi::Status good = check_first(); !good) return good.error();
    find_symbols();
    uint64_t at = 0;
    while (at < end_ && !is_symbols(at)) at = read_section(at);
    for (FileRange* range : {&file_.kallsyms, &file_.modules}) check_place(at, *range);
    check_end(at);
    check_kernel_texts();
    if (sums_ != 0 && sums_ != headers_)
      damage_.add(fmt::format("{} of {} headers have changed: they have no checksum",
                              headers_ - sums_, headers_),
                  0);
    if (sums_ != 0 && !has_info_) damage_.add("the facts about the recording are missing", 0);
    for (auto& [key, layout] : streams_) file_.streams.push_back(std::move(layout));
    return std::move(file_);
  }

 private:
  bool read_header(uint64_t at, HeaderBytes& header) {
    return source_.read(at, header) == header.size();
  }

  // The first header decides whether post can read this file.
  pi::Status check_first() {
    HeaderBytes& header = first_;
    const size_t got = source_.read(0, header);
    if (!source_.error().empty())
      return pi::Error{-1, fmt::format("the trace file cannot be read: {}.", source_.error())};
    if (got >= perf_magic.size() &&
        std::memcmp(header.data(), perf_magic.data(), perf_magic.size()) == 0)
      return pi::Error{-1, "a recording of perf; post --import converts it."};
    if (got < sizeof nrm2::magic || !has_magic(header))
      return pi::Error{-1, got == 0 ? "the file is empty: its recording was not finished."
                                    : "not an nrm2 trace file (it does not begin with NRM2)."};
    if (got < header.size())
      return pi::Error{-1, fmt::format("the file ends after {} bytes, within its first header; "
                                       "nothing of the trace is left.",
                                       got)};
    const uint32_t mark = word_at(header, nrm2::offset::endian);
    if (mark == __builtin_bswap32(nrm2::endian_mark))
      return pi::Error{-1, "written on a big-endian machine, which is not supported."};
    const uint32_t major_version = word_at(header, nrm2::offset::version) >> 16;
    if (major_version > nrm2::version >> 16)
      return pi::Error{-1, fmt::format("the trace file's format has version {}, this program knows "
                                       "version {}; use the post of the pitrace that wrote it.",
                                       major_version, nrm2::version >> 16)};
    if (!is_header(header))
      return pi::Error{-1, "the first header is damaged; nothing of the trace can be read."};
    file_.cpus = word_at(header, nrm2::offset::num_cpus);
    return {};
  }

  void find_symbols() {
    using namespace nrm2::offset;
    find_text("symbols", kallsyms_offset, kallsyms_size, file_.kallsyms);
    find_text("modules", modules_offset, modules_size, file_.modules);
  }

  void find_text(const char* what, size_t offset_at, size_t size_at, FileRange& range) {
    const uint64_t offset = number_at(first_, offset_at, 8);
    const uint64_t size = number_at(first_, size_at, 8);
    if (offset == 0 || size == 0) return;
    symbols_at_.push_back(offset);
    if (offset <= end_ && size <= end_ - offset) {
      range = {offset, size};
      return;
    }
    const uint64_t there = offset < end_ ? end_ - offset : 0;
    damage_.add(fmt::format("the kernel's {} should be {} bytes at file offset {}, {} of them are "
                            "there; names of the kernel are missing",
                            what, size, offset, there),
                size - there);
  }

  // The first of the appended texts ends the sections.
  bool is_symbols(uint64_t at) const {
    return std::find(symbols_at_.begin(), symbols_at_.end(), at) != symbols_at_.end();
  }

  // The highest offset at which records that begin at an offset can end.
  uint64_t records_end(uint64_t at) const {
    uint64_t end = end_;
    for (const uint64_t symbols : symbols_at_)
      if (symbols >= at) end = std::min(end, symbols);
    return end;
  }

  void check_place(uint64_t sections_end, FileRange& range) {
    if (range.offset == 0 || range.offset >= sections_end) return;
    for (const Extent& text : kernel_texts_)
      if (range.offset == text.offset && range.size <= text.size) return;
    damage_.add(
        fmt::format("the kernel's symbols are said to be at file offset {}, which is within "
                    "the sections; they are not used",
                    range.offset),
        0);
    range = {};
  }

  // The texts behind the sections end the file.
  void check_end(uint64_t sections_end) {
    uint64_t end = sections_end;
    for (const FileRange& range : {file_.kallsyms, file_.modules})
      end = std::max(end, range.offset + range.size);
    if (end < end_ && !damage_.any())
      damage_.add(fmt::format("nothing is known of what begins at file offset {}", end),
                  end_ - end);
  }

  // A recorder that is killed can have written a text, but not yet its place.
  void check_kernel_texts() {
    const bool used = file_.kallsyms.offset != 0 || file_.modules.offset != 0;
    // Both are written then; again at the end, if a module was loaded.
    const bool lacks_symbols =
        file_.info.kallsyms == "complete" &&
        (file_.kallsyms.offset == 0 || (file_.modules.offset == 0 && kernel_texts_.size() > 1));
    if (damage_.any() || file_.info.ended == "running" || file_.info.ended.empty()) return;
    if (lacks_symbols || (!kernel_texts_.empty() && !used))
      damage_.add("the first header does not say where the kernel's symbols are", 0);
  }

  static bool has_sum(const HeaderBytes& header) {
    return (word_at(header, nrm2::offset::flags) & nrm2::flag_sum) != 0;
  }

  void check_header(uint64_t at, const HeaderBytes& header) {
    ++headers_;
    if (!has_sum(header)) return;
    ++sums_;
    HeaderBytes without = header;
    std::memset(without.data() + nrm2::offset::header_sum, 0, sizeof(uint64_t));
    if (number_at(header, nrm2::offset::header_sum, 8) !=
        nrm2::sum_of(without.data(), without.size()))
      damage_.add(fmt::format("the header at file offset {} has changed since it was written", at),
                  0);
  }

  // One that is cut short is reported already.
  void check_data(const HeaderBytes& header, const Extent& extent, const char* what) {
    if (!has_sum(header) || extent.size != word_at(header, nrm2::offset::data_size)) return;
    constexpr size_t block = 1 << 20;
    if (window_.size() < block) window_.resize(block);
    nrm2::Sum sum(extent.size);
    for (uint64_t at = 0; at < extent.size;) {
      const auto wanted = static_cast<size_t>(std::min<uint64_t>(block, extent.size - at));
      if (source_.read(extent.offset + at, std::span(window_).first(wanted)) != wanted) return;
      sum.add(window_.data(), wanted);
      at += wanted;
    }
    if (sum.value() != number_at(header, nrm2::offset::sum, 8))
      damage_.add(fmt::format("the {} at file offset {} have changed since they were written; some "
                              "can be wrong or missing",
                              what, extent.offset),
                  0);
  }

  // Returns where the next section begins.
  uint64_t read_section(uint64_t at) {
    HeaderBytes header;
    if (end_ - at < header.size()) {
      damage_.add(fmt::format("the file ends within a header at file offset {}", at), end_ - at);
      return end_;
    }
    if (!read_header(at, header) || !is_header(header)) return skip_to_header(at);
    check_header(at, header);
    const uint64_t data = at + header.size();
    const uint64_t size = word_at(header, nrm2::offset::data_size);
    previous_data_ = data;
    previous_ = nullptr;
    uint64_t there = size;
    if (size > end_ - data) {
      there = find_header(data).value_or(records_end(data)) - data;
      damage_.add(
          fmt::format(
              "the section at file offset {} (CPU {}) is cut short: {} of {} bytes are there", at,
              word_at(header, nrm2::offset::cpu), there, size),
          there < size ? size - there : 0);
    }
    add_section(header, {data, there, false});
    if (there != size && previous_) cut_.insert(previous_->key);
    return data + there;
  }

  // There is no header where one should be: the section before has a wrong size, or this one is
  // damaged.
  uint64_t skip_to_header(uint64_t at) {
    const std::optional<uint64_t> found = find_header(previous_data_);
    const uint64_t next = found.value_or(records_end(at));
    if (next < at && previous_) {
      previous_->extents.back().size = next - previous_->extents.back().offset;
      cut_.insert(previous_->key);
    }
    damage_.add(fmt::format("no section begins at file offset {}{}", at,
                            found ? fmt::format("; the next one found is at {}", next) : ""),
                next > at ? next - at : 0);
    return next;
  }

  // The first offset from start on with a whole header.
  std::optional<uint64_t> find_header(uint64_t start) {
    size_t scan = budgets::first_scan;
    for (uint64_t at = start; at < end_ && end_ - at >= nrm2::header_size;
         scan = std::min(2 * scan, budgets::largest_scan)) {
      const size_t wanted = static_cast<size_t>(std::min<uint64_t>(scan, end_ - at));
      if (window_.size() < wanted) window_.resize(wanted);
      const size_t got = source_.read(at, std::span(window_).first(wanted));
      if (got < nrm2::header_size) return std::nullopt;
      const char* text = reinterpret_cast<const char*>(window_.data());
      std::string_view view(text, got);
      for (size_t hit = 0;
           (hit = view.find(std::string_view(nrm2::magic, 4), hit)) != std::string_view::npos &&
           hit + nrm2::header_size <= got;
           ++hit) {
        HeaderBytes header;
        std::memcpy(header.data(), window_.data() + hit, header.size());
        if (is_header(header)) return at + hit;
      }
      if (got < wanted || at + got >= end_) return std::nullopt;
      at += got - (nrm2::header_size - 1);
    }
    return std::nullopt;
  }

  void add_section(const HeaderBytes& header, Extent extent) {
    switch (const uint32_t type = word_at(header, nrm2::offset::section_type)) {
      case nrm2::section_mte:
      case nrm2::section_trace:
      case nrm2::section_final_mte:
      case nrm2::section_stacks:
        check_data(header, extent, "records");
        add_records(header, type, extent);
        break;
      case nrm2::section_info:
        has_info_ = true;
        parse_info(checked_text(header, extent), file_.info);
        break;
      case nrm2::section_kernel_text:
        kernel_texts_.push_back(extent);
        break;
      case nrm2::section_kernel_code:
        check_data(header, extent, "bytes of the kernel's code");
        file_.kernel_code.push_back(extent);
        break;
      case nrm2::section_build_ids:
        parse_build_ids(checked_text(header, extent), file_.build_ids);
        break;
      case nrm2::section_frame_names:
        parse_frame_names(checked_text(header, extent), file_.frame_names);
        break;
      default:
        if (word_at(header, nrm2::offset::version) <= nrm2::version)
          damage_.add(fmt::format("the section at file offset {} is of the unknown type {:#x}",
                                  extent.offset - header.size(), type),
                      extent.size);
        break;
    }
  }

  // The good part of a text that has changed is used. One that is cut short is reported already.
  std::string checked_text(const HeaderBytes& header, const Extent& extent) {
    std::string text = read_text(extent);
    if (has_sum(header) && extent.size == word_at(header, nrm2::offset::data_size) &&
        number_at(header, nrm2::offset::sum, 8) != nrm2::sum_of(text.data(), text.size()))
      damage_.add(fmt::format("the {} at file offset {} have changed since they were written",
                              name_of(word_at(header, nrm2::offset::section_type)), extent.offset),
                  0);
    return text;
  }

  static const char* name_of(uint32_t text_type) {
    return text_type == nrm2::section_info        ? "facts about the recording"
           : text_type == nrm2::section_build_ids ? "build-ids"
                                                  : "names of frames";
  }

  void add_records(const HeaderBytes& header, uint32_t type, Extent extent) {
    const bool stacks = type == nrm2::section_stacks;
    const StreamKey key{word_at(header, nrm2::offset::cpu), type != nrm2::section_trace && !stacks,
                        stacks};
    StreamLayout& layout = streams_[{key.mte ? 0 : stacks ? 1 : 2, key.cpu, type}];
    if (layout.extents.empty()) {
      layout.key = key;
      layout.final_mte = type == nrm2::section_final_mte;
      layout.time_high = word_at(header, nrm2::offset::start_time + 4);
    }
    extent.after_gap = cut_.erase(key) != 0;
    layout.extents.push_back(extent);
    previous_ = &layout;
    if (word_at(header, nrm2::offset::flags) & nrm2::flag_full && full_.insert(key).second)
      file_.full.push_back(key);
    note_lost(key, word_at(header, nrm2::offset::lost_count));
  }

  // Each header contains the stream's count so far.
  void note_lost(StreamKey key, uint32_t lost) {
    if (lost == 0) return;
    const auto [known, added] = lost_at_.try_emplace(key, file_.header_lost.size());
    if (added) file_.header_lost.emplace_back(key, lost);
    uint64_t& most = file_.header_lost[known->second].second;
    most = std::max<uint64_t>(most, lost);
  }

  std::string read_text(const Extent& extent) {
    if (extent.size > text_limit) {
      damage_.add(fmt::format("the text at file offset {} is {} bytes long, which is too long",
                              extent.offset, extent.size),
                  extent.size);
      return {};
    }
    std::string text(static_cast<size_t>(extent.size), '\0');
    text.resize(source_.read(extent.offset, std::as_writable_bytes(std::span(text))));
    return text;
  }

  ByteSource& source_;
  DamageLog& damage_;
  const uint64_t end_;  // of the file
  HeaderBytes first_{};
  std::vector<uint64_t> symbols_at_;
  TraceFile file_;
  // By kind (MTE, stacks, trace), CPU, section type. Addresses of the values stay valid.
  std::map<std::tuple<int, uint32_t, uint32_t>, StreamLayout> streams_;
  uint64_t previous_data_ = nrm2::header_size;
  StreamLayout* previous_ = nullptr;  // stream of the section before, if it holds records
  std::vector<Extent> kernel_texts_;
  uint64_t headers_ = 0;
  uint64_t sums_ = 0;  // headers with a checksum: all, and there are facts, or none
  bool has_info_ = false;
  std::set<StreamKey> cut_;  // streams whose next section comes after a gap
  std::set<StreamKey> full_;
  std::map<StreamKey, size_t> lost_at_;  // indices in header_lost
  std::vector<std::byte> window_;        // in which headers are looked for
};

}  // namespace

uint64_t StreamLayout::size() const {
  uint64_t sum = 0;
  for (const Extent& extent : extents) sum += extent.size;
  return sum;
}

uint64_t end_of_whole_sections(ByteSource& source) {
  const uint64_t size = source.size();
  for (uint64_t at = 0; at < size;) {
    HeaderBytes header;
    if (size - at < header.size()) return at;
    if (source.read(at, header) != header.size() || !is_header(header)) return size;
    const uint64_t data = word_at(header, nrm2::offset::data_size);
    if (data > size - at - header.size()) return at;
    at += header.size() + data;
  }
  return size;
}

pi::Result<TraceFile> read_layout(ByteSource& source, DamageLog& damage) {
  return LayoutReader(source, damage).read();
}

}  // namespace post
