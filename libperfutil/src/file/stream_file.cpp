// SPDX-License-Identifier: MIT
// A trace file that grows while the trace runs. At any moment it has whole sections only and can be
// read.
#include "stream_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include <pi/files.h>
#include <pitrace/abi.h>

#include "perfutil.h"
#include "system/text.h"

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
  return {cpu, type == nrm2::section_trace    ? PITRACE_BUFFER_TRACE
               : type == nrm2::section_stacks ? PITRACE_BUFFER_STACKS
                                              : PITRACE_BUFFER_MTE};
}

}  // namespace

Result<StreamFile> StreamFile::create(const std::string& name, const FileFacts& facts) {
  auto file = OutputFile::create(name);
  if (!file) return file.error();
  return StreamFile(std::move(*file), name, facts);
}

int StreamFile::append(const SectionFacts& section, Bytes data) {
  const uint64_t begin = file_.size();
  const int error = file_.append(make_header(facts_, section, data), data);
  if (error != 0) (void)file_.truncate(begin);
  return error;
}

int StreamFile::add(const SectionFacts& section, Bytes data, uint64_t records) {
  const uint64_t begin = file_.size();
  if (const int error = append(section, data); error != 0) return error;
  remember({begin, file_.size() - begin, section.type, section.cpu, records});
  if (holds_records(section.type)) records_[stream_of(section.cpu, section.type)] += records;
  return 0;
}

void StreamFile::remember(const Section& section) {
  newest_.push_back(section);
  if (newest_.size() > max_newest) newest_.pop_front();
}

// Reads a section's facts from its header in the file.
int StreamFile::section_at(uint64_t offset, Section& section) const {
  HeaderBytes header{};
  if (const int error = read(offset, header); error != 0) return error;
  const auto number = [&](size_t place) {
    uint32_t value;
    std::memcpy(&value, header.data() + place, sizeof value);
    return value;
  };
  section = {offset, nrm2::header_size + uint64_t{number(nrm2::offset::data_size)},
             number(nrm2::offset::section_type), number(nrm2::offset::cpu), std::nullopt};
  return section.bytes <= file_.size() - offset ? 0 : EIO;
}

// Reads the newest sections from the file again, after all remembered ones were dropped.
int StreamFile::find_newest() {
  newest_.clear();
  Section section;
  for (uint64_t offset = 0; offset < file_.size(); offset += section.bytes) {
    if (const int error = section_at(offset, section); error != 0) return error;
    remember(section);
  }
  return 0;
}

int StreamFile::count_records(const Section& section, uint64_t& records) const {
  records = section.records.value_or(0);
  if (section.records) return 0;
  std::vector<std::byte> data(section.bytes - nrm2::header_size);
  if (const int error = read(section.offset + nrm2::header_size, data); error != 0) return error;
  (void)whole_records(data, data.size(), records);
  return 0;
}

int StreamFile::add_text(uint32_t type, const std::string& text) {
  SectionFacts section;
  section.type = type;
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
  return write_kernel_places();
}

bool StreamFile::has_kernel(const KernelTexts& kernel) const {
  return kernel_hash_ == hash_of(kernel);
}

int StreamFile::set_cpus(uint32_t cpus) {
  facts_.cpus = cpus;
  return change_first_header(nrm2::offset::num_cpus, std::as_bytes(std::span(&cpus, 1)));
}

// Moves the bytes after the section to its start, then cuts the file: this needs no free space.
int StreamFile::drop_last_records() {
  const auto is_of_records = [](const Section& section) { return holds_records(section.type); };
  auto found = std::find_if(newest_.rbegin(), newest_.rend(), is_of_records);
  if (found == newest_.rend()) {
    if (const int error = find_newest(); error != 0) return error;
    found = std::find_if(newest_.rbegin(), newest_.rend(), is_of_records);
  }
  if (found == newest_.rend()) return ENOSPC;
  const Section dropped = *found;
  uint64_t records = 0;
  if (const int error = count_records(dropped, records); error != 0) return error;
  const uint64_t end = dropped.offset + dropped.bytes;
  std::vector<std::byte> rest(file_.size() - end);
  if (const int error = read(end, rest); error != 0) return error;
  if (const int error = file_.overwrite(dropped.offset, rest); error != 0) return error;
  for (auto section = found.base(); section != newest_.end(); ++section)
    section->offset -= dropped.bytes;
  for (size_t place = 0; place < 4; place += 2)
    if (kernel_places_[place] >= end) kernel_places_[place] -= dropped.bytes;
  newest_.erase(found.base() - 1);
  records_[stream_of(dropped.cpu, dropped.type)] -= records;
  if (const int error = file_.truncate(dropped.offset + rest.size()); error != 0) return error;
  return write_kernel_places();
}

int StreamFile::read(uint64_t offset, std::span<std::byte> into) const {
  const auto got = read_at(file_.fd(), offset, into);
  if (got.error != 0) return got.error;
  return got.bytes == into.size() ? 0 : EIO;
}

int StreamFile::write_kernel_places() {
  return change_first_header(nrm2::offset::kallsyms_offset,
                             std::as_bytes(std::span(kernel_places_)));
}

// Before the first section there is nothing to change: it gets what is known then.
int StreamFile::change_first_header(size_t offset, Bytes value) {
  if (file_.size() == 0) return 0;
  HeaderBytes first{};
  if (const int error = read(0, first); error != 0) return error;
  change_header(first, offset, value);
  return file_.overwrite(0, first);
}

Result<StreamFile> StreamFile::without_trace() const {
  auto other = create(name_, facts_);
  if (!other) return other;
  const auto failed = [this](int error) {
    return Error{PU_ERROR_FILE, "'" + name_ + "' cannot be rewritten: " + errno_text(error) + "."};
  };
  std::vector<std::byte> block;
  Section section;
  for (uint64_t offset = 0; offset < file_.size(); offset += section.bytes) {
    if (const int error = section_at(offset, section); error != 0) return failed(error);
    if (section.type == nrm2::section_trace || section.type == nrm2::section_stacks) continue;
    block.resize(section.bytes);
    int error = read(offset, block);
    Section moved = section;
    moved.offset = other->file_.size();
    for (size_t place = 0; place < 4; place += 2)
      if (kernel_places_[place] == offset + nrm2::header_size)
        other->kernel_places_[place] = moved.offset + nrm2::header_size;
    if (error == 0) error = other->file_.append(block);
    if (error != 0) return failed(error);
    other->remember(moved);
  }
  for (const auto& [stream, records] : records_)
    if (stream.second == PITRACE_BUFFER_MTE) other->records_[stream] = records;
  other->kernel_places_[1] = kernel_places_[1];
  other->kernel_places_[3] = kernel_places_[3];
  other->kernel_hash_ = kernel_hash_;
  if (const int error = other->write_kernel_places(); error != 0) return failed(error);
  return other;
}

}  // namespace pi::perfutil
