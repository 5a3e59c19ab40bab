// SPDX-License-Identifier: MIT
// A trace file that grows while the trace runs. At any moment it has whole sections only and can be
// read.
#ifndef PI_PERFUTIL_STREAM_FILE_H
#define PI_PERFUTIL_STREAM_FILE_H

#include <fcntl.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "kernel_texts.h"
#include "nrm2_header.h"
#include "output_file.h"

namespace pi::perfutil {

class StreamFile {
 public:
  using Stream = std::pair<uint32_t, uint32_t>;  // CPU, PITRACE_BUFFER_*

  // PU_ERROR_FILE. The file has its name only after publish().
  static Result<StreamFile> create(const std::string& name, const FileFacts& facts);

  // A section of records, or of text (no stream, records 0). 0 or an error number; after an error
  // nothing of the section is in the file.
  int add(const SectionFacts& section, Bytes data, uint64_t records);
  int add_text(uint32_t type, const std::string& text);
  // The kernel's symbols and modules; they replace earlier ones.
  int add_kernel(const KernelTexts& kernel);
  // Removes the last section of records, even if texts follow it; ENOSPC when there is none.
  int drop_last_records();
  int set_cpus(uint32_t cpus);
  int publish(bool keep_old) { return file_.publish(keep_old); }
  int sync() const { return file_.sync(); }
  // A second descriptor of the file; empty when there is none left.
  UniqueFd duplicate() const { return UniqueFd(::fcntl(file_.fd(), F_DUPFD_CLOEXEC, 0)); }

  const FileFacts& facts() const { return facts_; }
  const std::string& name() const { return name_; }
  uint64_t size() const { return file_.size(); }
  // Number of counted records in the file, by stream.
  const std::map<Stream, uint64_t>& records() const { return records_; }
  // Whether the file holds these texts of the kernel.
  bool has_kernel(const KernelTexts& kernel) const;

  // Appends the whole file to another. 0 or an error number.
  int append_to(OutputFile& other) const { return other.append_file(file_.fd()); }
  // A new file of the same name without the sections of trace records, to continue with.
  Result<StreamFile> without_trace() const;

 private:
  StreamFile(OutputFile file, std::string name, const FileFacts& facts)
      : file_(std::move(file)), name_(std::move(name)), facts_(facts) {}
  struct Section {
    uint64_t offset = 0;  // of the header
    uint64_t bytes = 0;   // with the header
    uint32_t type = 0;
    uint32_t cpu = 0;
    std::optional<uint64_t> records;  // counted records; nothing: must be read from the file
  };
  // A long trace has millions of sections; only the newest are kept here.
  static constexpr size_t max_newest = 1024;

  int append(const SectionFacts& section, Bytes data);
  int read(uint64_t offset, std::span<std::byte> into) const;
  int write_kernel_places();
  int change_first_header(size_t offset, Bytes value);
  void remember(const Section& section);
  int section_at(uint64_t offset, Section& section) const;
  int find_newest();
  int count_records(const Section& section, uint64_t& records) const;

  OutputFile file_;
  std::string name_;
  FileFacts facts_;
  std::deque<Section> newest_;
  std::map<Stream, uint64_t> records_;
  size_t kernel_hash_ = 0;
  uint64_t kernel_places_[4] = {};  // as in the first header
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_STREAM_FILE_H
