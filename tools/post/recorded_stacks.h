// SPDX-License-Identifier: MIT
// post --import: unwinds the copies of user stacks in a recording of perf.
#ifndef POST_RECORDED_STACKS_H
#define POST_RECORDED_STACKS_H

#include <import/recorded_code.h>
#include <pi/result.h>
#include <pi/unique_fd.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "stacks/stack_resolver.h"

namespace post {

// The files of a recording's processes. Any thread may call it.
class RecordedFiles {
 public:
  RecordedFiles(std::string search_path, std::string cache)
      : search_path_(std::move(search_path)), cache_(std::move(cache)) {}

  void add(const pi::perfutil::RecordedFile& file);
  // Finds it by its path and build-id, as liba2n finds the files with symbols, then in perf's
  // cache.
  pi::Result<pi::UniqueFd> open(const pi::swtrace::MappedAs& place);
  std::map<std::string, std::string> found_build_ids() const;

 private:
  struct Known {
    std::string build_id;
    bool of_this_host = false;
  };

  pi::Result<pi::UniqueFd> open_known(const pi::swtrace::MappedAs& place, const Known& known) const;
  // The file of that path, if it has this build-id; without one, if it has this inode.
  pi::Result<pi::UniqueFd> open_file(const std::string& path, const std::string& build_id,
                                     uint64_t inode) const;
  pi::Result<pi::UniqueFd> open_vdso(const Known& known) const;
  pi::Result<pi::UniqueFd> open_cached(const std::string& build_id, const char* name) const;

  const std::string search_path_, cache_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, Known> known_;
  std::map<std::string, std::string> found_;
};

class RecordedStacks final : public pi::perfutil::RecordedCode {
 public:
  // search_path: directories with ':' between them. cache: a directory like ~/.debug; "": none.
  RecordedStacks(std::string search_path, std::string cache);

  pi_stack_resolver resolver() override { return resolver_.functions(); }
  void add(const pi::perfutil::RecordedFile& file) override { files_->add(file); }
  std::map<std::string, std::string> found_build_ids() const override {
    return files_->found_build_ids();
  }

 private:
  // Shared with a thread of the resolver, which a file system may block for ever.
  const std::shared_ptr<RecordedFiles> files_;
  pi::swtrace::StackResolver resolver_;
};

}  // namespace post

#endif  // POST_RECORDED_STACKS_H
