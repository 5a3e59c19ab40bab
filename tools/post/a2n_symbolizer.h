// SPDX-License-Identifier: MIT
// Gets the names of addresses from liba2n.
#ifndef POST_A2N_SYMBOLIZER_H
#define POST_A2N_SYMBOLIZER_H

#include <pi/result.h>
#include <pi/unique_fd.h>

#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "options/options.h"
#include "read/nrm2_reader.h"
#include "state/symbolizer.h"
#include "text/damage_log.h"

namespace post {

// liba2n has one state for the whole program: only one symbolizer may exist at a time.
class A2nSymbolizer final : public Symbolizer {
 public:
  A2nSymbolizer();
  ~A2nSymbolizer() override;
  A2nSymbolizer(const A2nSymbolizer&) = delete;
  A2nSymbolizer& operator=(const A2nSymbolizer&) = delete;

  // Sets the sources of this trace's names in liba2n: the saved symbols of its archive, which the
  // caller keeps open (-1: no archive), or the files that the options and the trace file name.
  pi::Status configure(const TraceFile& file, const std::string& path, const SymbolOptions& options,
                       int saved_symbols = -1);
  // Uses the logs of the archive, which the caller keeps, and no others.
  void use_logs(const std::map<LogKey, pi::UniqueFd>& logs) { archived_ = &logs; }

  // Nothing will be looked up any more: releases all symbols.
  static void release_symbols();

  // Describes what is wrong with the saved symbols that are used; "" if nothing is.
  const std::string& damage() const { return damage_; }
  // Adds what is wrong with logs of names that were used.
  static void add_damage(DamageLog& damage);
  // Where the symbols of each module came from, with SymbolOptions::report_sources.
  static std::vector<std::string> sources();

  void create(uint64_t time, uint32_t pid) override;
  void fork(uint64_t time, uint32_t parent, uint32_t child) override;
  void clone(uint64_t time, uint32_t parent, uint32_t child) override;
  void exec(uint64_t time, uint32_t pid) override;
  void set_name(uint64_t time, uint32_t pid, std::string_view name) override;
  void release(uint32_t pid) override;
  bool add_module(uint64_t time, const pi::ModuleEntry& module) override;
  Lookup lookup(uint64_t time, uint32_t pid, uint64_t address) override;
  bool is_of_root(uint64_t time, uint32_t pid, uint64_t address) override;
  std::vector<SourceFrame> frames(uint64_t time, uint32_t pid, uint64_t address) override;
  Code code(uint64_t time, uint32_t pid, uint64_t address) override;
  size_t read_code(uint64_t time, uint32_t pid, uint64_t address,
                   std::span<std::byte> out) override;
  std::string plt_name(uint64_t time, uint32_t pid, uint64_t address) override;
  void look_for_logs(const ProcessIds& process) override;
  void expect_log(uint32_t pid) override { expected_.insert(pid); }
  uint64_t next_code_change(uint64_t time, uint32_t pid) override;
  std::vector<pi::ThreadStart> thread_starts(const ProcessIds& process) override;
  std::string readable(const std::string& name) const override;
  std::vector<std::string> notes() override;

  // Which logs of each process were used, with SymbolOptions::report_logs.
  const std::vector<std::string>& log_messages() const { return log_messages_; }
  // The logs that were used, open; -1 for logs beyond an archive's limit.
  std::map<LogKey, int> logs() const;

 private:
  static pi::Status set_naming(const SymbolOptions& options);
  pi::Status set_sources(const TraceFile& file, const std::string& path,
                         const SymbolOptions& options);
  pi::Status take_saved(int rc, const std::string& path);

  // Tries paths in turn; true when one was used. refused: a file was there but could not be used.
  bool load_code(const ProcessIds& process, LogKind kind, const std::vector<std::string>& paths,
                 bool& refused);
  int load_file(const ProcessIds& process, LogKind kind, const std::string& path);
  // Returns the descriptor of a log in the archive; -1 if the archive has none.
  int archived_log(const LogKey& log) const;
  // The log was used.
  void keep(const LogKey& log, pi::UniqueFd fd);

  std::string damage_;
  std::string text_;  // a name with the final zero that liba2n needs, or a limited one
  std::deque<std::string> frame_names_;  // of the last call of frames()
  std::string prefix_;                   // of JProf's logs
  bool here_ = false;                    // the trace was made on this machine
  bool report_logs_ = false;
  std::map<uint32_t, std::string> jit_dumps_;  // by pid, the newest
  DirectoryNames directories_;                 // of logs and maps
  // Kept open, so that an archive gets the file that was read, not a new file of the same path;
  // except those in archived_ and those over the limit of an archive.
  std::map<LogKey, pi::UniqueFd> used_;
  const std::map<LogKey, pi::UniqueFd>* archived_ = nullptr;
  std::set<uint32_t> expected_;                    // pids whose log must exist
  std::unordered_set<uint32_t> foreign_log_pids_;  // the log is that of another process
  std::vector<std::string> log_messages_;
  std::vector<std::string> log_notes_;  // for the report
};

}  // namespace post

#endif  // POST_A2N_SYMBOLIZER_H
