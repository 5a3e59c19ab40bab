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
  return file_.overwrite(nrm2::offset::kallsyms_offset, std::as_bytes(std::span(places)));
}

bool StreamFile::has_kernel(const KernelTexts& kernel) const {
  return kernel_hash_ == hash_of(kernel);
}

int StreamFile::set_cpus(uint32_t cpus) {
  facts_.cpus = cpus;
  return file_.overwrite(nrm2::offset::num_cpus, std::as_bytes(std::span(&cpus, 1)));
}

// Of the sections behind the last text; false when there is none left.
int StreamFile::drop_last() {
  if (sections_.empty() || !holds_records(sections_.back().type)) return ENOSPC;
  const Section last = sections_.back();
  sections_.pop_back();
  records_[stream_of(last.cpu, last.type)] -= last.records;
  return file_.truncate(last.offset);
}

int StreamFile::add_text_at_any_price(uint32_t type, const std::function<std::string()>& text) {
  int error = add_text(type, text());
  while (error != 0) {
    if (drop_last() != 0) return error;
    error = add_text(type, text());
  }
  return 0;
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
    const ssize_t got =
        ::pread(file_.fd(), block.data(), block.size(), static_cast<off_t>(section.offset));
    int error = got == static_cast<ssize_t>(block.size()) ? 0 : EIO;
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
  if (const int error = other->file_.overwrite(nrm2::offset::kallsyms_offset,
                                               std::as_bytes(std::span(other->kernel_places_)));
      error != 0)
    return Error{PU_ERROR_FILE, "'" + name_ + "' cannot be rewritten: " + errno_text(error) + "."};
  return other;
}

}  // namespace pi::perfutil
