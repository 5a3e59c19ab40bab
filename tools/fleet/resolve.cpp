// SPDX-License-Identifier: MIT
// Names functions that had no name on their hosts, once for all hosts.
#include "resolve.h"

#include <a2n_context.h>
#include <cli.h>
#include <fmt/format.h>
#include <pi/printable.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "export/parquet.h"
#include "sql_files.h"
#include "tables.h"
#include "text/name_limit.h"
#include "text/output_file.h"
#include "text/string_table.h"

namespace fleet {
namespace {

void show_transfer(void*, const char* path, uint64_t done, uint64_t) {
  pi::cli::to_stderr(
      path ? fmt::format("\r\033[Kdebuginfod: {} MiB for {}", done >> 20, pi::printable(path))
           : "\r\033[K");
}

// The functions at addresses of files that are known by their build-ids.
class DebugFiles {
 public:
  explicit DebugFiles(const std::string& folders) : context_(a2n_context_new()) {
    if (!context_) throw std::bad_alloc();
    a2n_set_demangle(context_.get(), 1);
    a2n_set_no_symbol_action(context_.get(), A2N_NSF_NULL);
    a2n_set_search_path(context_.get(), folders.c_str());
    a2n_use_debuginfod(context_.get(), ::isatty(STDERR_FILENO) == 1 ? show_transfer : nullptr,
                       nullptr);
  }

  // Files are asked for one after the other. A path can be that of many files: number stands for
  // the inode.
  void open(const std::string& path, const std::string& build_id) {
    path_ = path;
    ++number_;
    known_ =
        a2n_set_build_id(context_.get(), path_.c_str(), number_, build_id.c_str()) == A2N_SUCCESS;
  }

  // "": not known.
  std::string function(uint64_t address) const {
    SYMDATA data{};
    const int rc = known_
                       ? a2n_get_file_symbol(context_.get(), path_.c_str(), number_, address, &data)
                       : A2N_NO_MODULE;
    if (rc == A2N_MEMORY_ERROR) throw std::bad_alloc();
    const bool named = (rc == A2N_SUCCESS || rc == A2N_FLAKY_SYMBOL) && data.sym_name;
    return named ? pi::printable(post::limited_name(data.sym_name)) : "";
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> all;
    while (const char* const note = a2n_get_note(context_.get(), all.size()))
      all.push_back(pi::printable(note));
    return all;
  }

 private:
  struct Free {
    void operator()(a2n_context* context) const { a2n_context_free(context); }
  };
  const std::unique_ptr<a2n_context, Free> context_;
  std::string path_;
  uint64_t number_ = 0;
  bool known_ = false;
};

struct Count {
  size_t files = 0;
  size_t addresses = 0;
  size_t named = 0;
};

struct Unnamed {
  std::string build_id, module;
  size_t addresses = 0;
};

class Names {
 public:
  Names(post::StringTable& names, post::Sink& sink)
      : writer_(names,
                {{"build_id"},
                 {"address", post::ParquetWriter::Type::int64, false,
                  post::ParquetWriter::Form::differences},
                 {"function"}},
                sink),
        names_(names) {}

  void add(const std::string& build_id, int64_t address, const std::string& function) {
    writer_.put(0, names_.intern(build_id));
    writer_.put(1, address);
    writer_.put(2, names_.intern(function));
    writer_.end_row();  // the file remembers errors
  }
  bool finish() { return writer_.finish({{"pitrace.schema", "names 2.0"}}); }

 private:
  post::ParquetWriter writer_;
  post::StringTable& names_;
};

pi::Status add_names(Engine& engine, DebugFiles& files, Names& names, Count& count,
                     std::vector<Unnamed>& unnamed) {
  pi::Status status = engine.each(sql(Query::names), [&](const Row& row) {
    names.add(text(row[0]), whole(row[1]), text(row[2]));
    return pi::Status();
  });
  if (!status) return status;
  std::string build_id;
  return engine.each(sql(Query::unnamed), [&](const Row& row) {
    if (text(row[0]) != build_id) {
      build_id = text(row[0]);
      files.open(text(row[2]), build_id);
      unnamed.push_back({build_id, text(row[2]), 0});
      ++count.files;
    }
    ++count.addresses;
    const std::string function = files.function(static_cast<uint64_t>(whole(row[1])));
    if (function.empty()) {
      ++unnamed.back().addresses;
      return pi::Status();
    }
    ++count.named;
    names.add(build_id, whole(row[1]), function);
    return pi::Status();
  });
}

std::string text_of(const Count& count, const std::vector<Unnamed>& unnamed) {
  std::string out =
      fmt::format(" Files    : {} with functions without a name\n Named    : {} of {} functions\n",
                  count.files, count.named, count.addresses);
  bool first = true;
  for (const Unnamed& each : unnamed) {
    if (each.addresses == 0) continue;
    if (std::exchange(first, false)) out += "\n     WITHOUT  build and module\n";
    out += fmt::format("{:>12}  {}  {}\n", each.addresses, pi::printable(each.build_id),
                       pi::printable(each.module));
  }
  return out;
}

}  // namespace

pi::Result<Answer> resolve(Engine& engine, const std::string& folder,
                           const std::string& debug_folders) {
  Question question;
  question.folder = folder;
  if (const pi::Status status = make_stack_view(engine, question); !status) return status.error();
  auto file = post::OutputFile::create(names_file(folder), 0644);
  if (!file) return file.error();
  post::StringTable texts;
  Names names(texts, **file);
  DebugFiles files(debug_folders);
  Count count;
  std::vector<Unnamed> unnamed;
  if (const pi::Status status = add_names(engine, files, names, count, unnamed); !status)
    return status.error();
  names.finish();
  if (const pi::Status status = (*file)->commit(); !status) return status.error();
  return Answer{text_of(count, unnamed), files.notes()};
}

}  // namespace fleet
