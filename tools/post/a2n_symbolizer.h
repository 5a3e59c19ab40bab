// SPDX-License-Identifier: MIT
// Names from liba2n.
#ifndef POST_A2N_SYMBOLIZER_H
#define POST_A2N_SYMBOLIZER_H

#include <pi/result.h>

#include "nrm2_reader.h"
#include "options.h"
#include "symbolizer.h"

namespace post {

// liba2n's state is one for the whole program: one symbolizer at a time.
class A2nSymbolizer final : public Symbolizer {
 public:
  A2nSymbolizer();
  ~A2nSymbolizer() override;
  A2nSymbolizer(const A2nSymbolizer&) = delete;
  A2nSymbolizer& operator=(const A2nSymbolizer&) = delete;

  // Tells liba2n where the names of this trace are: in what an archive had with it, which the
  // caller keeps open (-1: it came from no archive), or where the options and the file at path say.
  pi::Status configure(const TraceFile& file, const std::string& path, const SymbolOptions& options,
                       int saved_symbols = -1);

  // What is wrong with the saved symbols that are used; "" for nothing.
  const std::string& damage() const { return damage_; }
  // Where the symbols of each module came from, with SymbolOptions::tell_sources.
  static std::vector<std::string> sources();

  void create(uint64_t time, uint32_t pid) override;
  void fork(uint64_t time, uint32_t parent, uint32_t child) override;
  void clone(uint64_t time, uint32_t parent, uint32_t child) override;
  void exec(uint64_t time, uint32_t pid) override;
  void set_name(uint64_t time, uint32_t pid, std::string_view name) override;
  bool add_module(uint64_t time, const pi::ModuleEntry& module) override;
  Lookup lookup(uint64_t time, uint32_t pid, uint64_t address) override;
  std::vector<std::string> notes() override;

 private:
  static pi::Status set_naming(const SymbolOptions& options);
  pi::Status set_sources(const TraceFile& file, const std::string& path,
                         const SymbolOptions& options);
  pi::Status take_saved(int rc, const std::string& path);

  std::string damage_;
  std::string text_;  // a name with the final zero that liba2n needs
};

}  // namespace post

#endif  // POST_A2N_SYMBOLIZER_H
