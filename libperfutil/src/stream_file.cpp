// SPDX-License-Identifier: MIT
// A trace file that grows while the trace runs: at any moment whole sections, readable as it is.
#include "stream_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include <pitrace/abi.h>

#include "perfutil.h"
#include "text.h"

namespace pi::perfutil {
namespace {

size_t hash_of(const KernelTexts& kernel) {
  const std::hash<std::string> hash;
  return hash(kernel.kallsyms) * 31 + hash(kernel.modules);
}

bool holds_records(uint32_t type) {
  return type < nrm2::section_info;
}

StreamFile::Stream stream_of(uint32_t cpu, uint32_t type) {
  return {cpu, type == nrm2::section_trace ? PITRACE_BUFFER_TRACE : PITRACE_BUFFER_MTE};
}

}  // namespace

Result<StreamFile> StreamFile::create(const std::string& name, const FileFacts& facts) {
  auto file = OutputFile::create(name);
  if (!file) return file.error();
  return StreamFile(std::move(*file), name, facts);
}

int StreamFile::append(const SectionFacts& section, Bytes data) {
  const uint64_t begin = file_.size();
  int error = file_.append(make_header(facts_, section));
  if (error == 0) error = file_.append(data);
  if (error != 0) (void)file_.truncate(begin);
  return error;
}

int StreamFile::add(const SectionFacts& section, Bytes data, uint64_t records) {
  const uint64_t begin = file_.size();
  if (const int error = append(section, data); error != 0) return error;
  sections_.push_back({begin, section.type, section.cpu, records});
  if (holds_records(section.type)) records_[stream_of(section.cpu, section.type)] += records;
  return 0;
}

int StreamFile::add_text(uint32_t type, const std::string& text) {
  SectionFacts section;
  section.type = type;
  section.bytes = static_cast<uint32_t>(text.size());
  return add(section, bytes_of(text), 0);
}

int StreamFile::add_kernel(const KernelTexts& kernel) {
  uint64_t places[4] = {};
  size_t place = 0;
  for (const auto* text : {&kernel.kallsyms, &kernel.modules}) {
    if (!text->empty()) {
      if (const int error = add_text(nrm2::section_kernel_text, *text); error != 0) return error;
      places[place] = file_.size() - text->size();
      places[place + 1] = text->size();
    }
    place += 2;
  }
  std::copy(std::begin(places), std::end(places), kernel_places_);
  kernel_hash_ = hash_of(kernel);
  return tell_kernel_places();
}

bool StreamFile::has_kernel(const KernelTexts& kernel) const {
  return kernel_hash_ == hash_of(kernel);
}

int StreamFile::set_cpus(uint32_t cpus) {
  facts_.cpus = cpus;
  return file_.overwrite(nrm2::offset::num_cpus, std::as_bytes(std::span(&cpus, 1)));
}

// What stands behind the section moves to its place before the file is cut, which needs no room.
int StreamFile::drop_last_records() {
  const auto found = std::find_if(sections_.rbegin(), sections_.rend(), [](const Section& section) {
    return holds_records(section.type);
  });
  if (found == sections_.rend()) return ENOSPC;
  const Section dropped = *found;
  const auto next = found.base();
  const uint64_t end = next == sections_.end() ? file_.size() : next->offset;
  const uint64_t bytes = end - dropped.offset;
  std::vector<std::byte> rest(file_.size() - end);
  if (const int error = read(end, rest); error != 0) return error;
  if (const int error = file_.overwrite(dropped.offset, rest); error != 0) return error;
  for (auto section = next; section != sections_.end(); ++section) section->offset -= bytes;
  for (size_t place = 0; place < 4; place += 2)
    if (kernel_places_[place] >= end) kernel_places_[place] -= bytes;
  sections_.erase(next - 1);
  records_[stream_of(dropped.cpu, dropped.type)] -= dropped.records;
  if (const int error = file_.truncate(dropped.offset + rest.size()); error != 0) return error;
  return tell_kernel_places();
}

int StreamFile::read(uint64_t offset, std::span<std::byte> into) const {
  const ssize_t got = ::pread(file_.fd(), into.data(), into.size(), static_cast<off_t>(offset));
  return got == static_cast<ssize_t>(into.size()) ? 0 : EIO;
}

int StreamFile::tell_kernel_places() {
  return file_.overwrite(nrm2::offset::kallsyms_offset, std::as_bytes(std::span(kernel_places_)));
}

Result<StreamFile> StreamFile::without_trace() const {
  auto other = create(name_, facts_);
  if (!other) return other;
  std::vector<std::byte> block;
  for (size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    if (section.type == nrm2::section_trace) continue;
    const uint64_t end = i + 1 < sections_.size() ? sections_[i + 1].offset : file_.size();
    block.resize(end - section.offset);
    int error = read(section.offset, block);
    Section moved = section;
    moved.offset = other->file_.size();
    for (size_t place = 0; place < 4; place += 2)
      if (kernel_places_[place] == section.offset + nrm2::header_size)
        other->kernel_places_[place] = moved.offset + nrm2::header_size;
    if (error == 0) error = other->file_.append(block);
    if (error != 0)
      return Error{PU_ERROR_FILE,
                   "'" + name_ + "' cannot be rewritten: " + errno_text(error) + "."};
    other->sections_.push_back(moved);
    if (holds_records(moved.type))
      other->records_[stream_of(moved.cpu, moved.type)] += moved.records;
  }
  other->kernel_places_[1] = kernel_places_[1];
  other->kernel_places_[3] = kernel_places_[3];
  other->kernel_hash_ = kernel_hash_;
  if (const int error = other->tell_kernel_places(); error != 0)
    return Error{PU_ERROR_FILE, "'" + name_ + "' cannot be rewritten: " + errno_text(error) + "."};
  return other;
}

}  // namespace pi::perfutil
