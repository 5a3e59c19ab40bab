// SPDX-License-Identifier: MIT
// Runs SQL on DuckDB by its C interface, of which the few functions used are declared here: no
// package of Debian has its header.
#include "engine.h"

#include <cli.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <pi/printable.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <thread>

#include "selection.h"

namespace fleet {
namespace {

// As in duckdb.h of version 1; they are part of its stable interface.
struct DuckResult {
  uint64_t deprecated[3];
  void* deprecated_columns;
  char* deprecated_error;
  void* internal;
};
struct DuckProgress {
  double percentage;
  uint64_t done;
  uint64_t total;
};
struct DuckString {
  uint32_t length;
  char inlined[4];
  const char* pointer;
  std::string_view view() const {
    // Twelve bytes at most are in the structure itself.
    return {length <= 12 ? inlined : pointer, length};
  }
};
enum DuckType : int { type_bigint = 5, type_double = 11, type_varchar = 17 };

struct Functions {
  int (*open_ext)(const char*, void**, void*, char**);
  int (*connect)(void*, void**);
  void (*disconnect)(void**);
  void (*close)(void**);
  void (*free)(void*);
  int (*query)(void*, const char*, DuckResult*);
  const char* (*result_error)(DuckResult*);
  void (*destroy_result)(DuckResult*);
  uint64_t (*column_count)(DuckResult*);
  int (*column_type)(DuckResult*, uint64_t);
  void* (*fetch_chunk)(DuckResult);
  void (*destroy_data_chunk)(void**);
  uint64_t (*data_chunk_get_size)(void*);
  void* (*data_chunk_get_vector)(void*, uint64_t);
  void* (*vector_get_data)(void*);
  uint64_t* (*vector_get_validity)(void*);
  DuckProgress (*query_progress)(void*);
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Functions& f) {
  return find(library, "duckdb_open_ext", f.open_ext) &&
         find(library, "duckdb_connect", f.connect) &&
         find(library, "duckdb_disconnect", f.disconnect) &&
         find(library, "duckdb_close", f.close) && find(library, "duckdb_free", f.free) &&
         find(library, "duckdb_query", f.query) &&
         find(library, "duckdb_result_error", f.result_error) &&
         find(library, "duckdb_destroy_result", f.destroy_result) &&
         find(library, "duckdb_column_count", f.column_count) &&
         find(library, "duckdb_column_type", f.column_type) &&
         find(library, "duckdb_fetch_chunk", f.fetch_chunk) &&
         find(library, "duckdb_destroy_data_chunk", f.destroy_data_chunk) &&
         find(library, "duckdb_data_chunk_get_size", f.data_chunk_get_size) &&
         find(library, "duckdb_data_chunk_get_vector", f.data_chunk_get_vector) &&
         find(library, "duckdb_vector_get_data", f.vector_get_data) &&
         find(library, "duckdb_vector_get_validity", f.vector_get_validity) &&
         find(library, "duckdb_query_progress", f.query_progress);
}

// The share of a long query that is done, in one line of a terminal.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) pi::cli::to_stderr("\r\033[K");
  }
  void show(double percentage) {
    if (!terminal_ || percentage < 0) return;
    pi::cli::to_stderr(fmt::format("\rpitrace-fleet: {:.0f} %", percentage));
    shown_ = true;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

// Removes the folder before a signal ends the program. A thread does it, since a signal handler
// cannot read a folder. The other threads, which start later, have the signals blocked.
void remove_on_signals(const std::string& folder) {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, number);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, folder] {
    int number = 0;
    if (::sigwait(&signals, &number) != 0) return;
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    ::signal(number, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    ::raise(number);
  }).detach();
}

// A private folder for what does not fit into memory.
class Scratch {
 public:
  Scratch() {
    const char* const given = ::secure_getenv("TMPDIR");
    path_ = fmt::format("{}/pitrace-fleet-XXXXXX", given && *given ? given : "/tmp");
    if (::mkdtemp(path_.data()))
      remove_on_signals(path_);
    else
      path_.clear();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class DuckDb final : public Engine {
 public:
  explicit DuckDb(const Functions& functions) : f_(functions) {}
  DuckDb(const DuckDb&) = delete;
  DuckDb& operator=(const DuckDb&) = delete;
  ~DuckDb() override {
    if (connection_) f_.disconnect(&connection_);
    if (database_) f_.close(&database_);
  }

  pi::Status start(const std::string& memory) {
    char* why = nullptr;
    if (f_.open_ext(nullptr, &database_, nullptr, &why) != 0) {
      const std::string reason = why ? why : "no reason given";
      f_.free(why);
      return pi::Error{-1, "DuckDB cannot be started: " + reason};
    }
    if (f_.connect(database_, &connection_) != 0)
      return pi::Error{-1, "DuckDB cannot be connected to."};
    // Nothing is fetched from a network.
    std::string settings =
        "SET autoinstall_known_extensions = false; SET autoload_known_extensions = false;";
    settings += fmt::format("SET temp_directory = {};", literal(scratch_.path()));
    if (!memory.empty()) settings += fmt::format("SET memory_limit = {};", literal(memory));
    const auto set = query(settings);
    if (!set) return set.error();
    // Several queries read the same files. Without the setting, they are only slower.
    (void)query("SET parquet_metadata_cache = true");
    return {};
  }

  pi::Status each(const std::string& sql,
                  const std::function<pi::Status(const Row&)>& take) override {
    DuckResult result{};
    ProgressLine line;
    auto state =
        std::async(std::launch::async, [&] { return f_.query(connection_, sql.c_str(), &result); });
    while (state.wait_for(std::chrono::milliseconds(500)) == std::future_status::timeout)
      line.show(f_.query_progress(connection_).percentage);
    pi::Status status;
    if (state.get() != 0) {
      const char* const why = f_.result_error(&result);
      // It can contain names of files.
      status = pi::Error{failed, why ? pi::printable(why, "\n") : "DuckDB gives no reason."};
    } else {
      status = take_rows(result, take);
    }
    f_.destroy_result(&result);
    return status;
  }

  const std::string& scratch() const override { return scratch_.path(); }

 private:
  pi::Status take_rows(DuckResult& result,
                       const std::function<pi::Status(const Row&)>& take) const {
    const uint64_t columns = f_.column_count(&result);
    pi::Status status;
    while (void* chunk = status ? f_.fetch_chunk(result) : nullptr) {
      const uint64_t size = f_.data_chunk_get_size(chunk);
      Rows rows(size, Row(columns));
      for (uint64_t i = 0; i < columns && size != 0; ++i)
        take_column(f_.data_chunk_get_vector(chunk, i), f_.column_type(&result, i), size, i,
                    rows.data());
      f_.destroy_data_chunk(&chunk);
      for (const Row& row : rows)
        if (status) status = take(row);
      if (size == 0) break;
    }
    return status;
  }

  void take_column(void* vector, int type, uint64_t size, uint64_t column, Row* rows) const {
    const void* const data = f_.vector_get_data(vector);
    const uint64_t* const valid = f_.vector_get_validity(vector);  // null: all
    for (uint64_t row = 0; row < size; ++row) {
      if (valid && (valid[row / 64] >> row % 64 & 1) == 0) continue;
      Cell& cell = rows[row][column];
      if (type == type_bigint) cell = static_cast<const int64_t*>(data)[row];
      if (type == type_double) cell = static_cast<const double*>(data)[row];
      if (type == type_varchar)
        cell = std::string(static_cast<const DuckString*>(data)[row].view());
    }
  }

  const Functions f_;
  Scratch scratch_;
  void* database_ = nullptr;
  void* connection_ = nullptr;
};

}  // namespace

pi::Result<Rows> Engine::query(const std::string& sql) {
  Rows rows;
  const pi::Status status = each(sql, [&](const Row& row) {
    rows.push_back(row);
    return pi::Status();
  });
  if (!status) return status.error();
  return rows;
}

int64_t whole(const Cell& cell) {
  const auto* value = std::get_if<int64_t>(&cell);
  return value ? *value : 0;
}

double number(const Cell& cell) {
  const auto* value = std::get_if<double>(&cell);
  return value ? *value : static_cast<double>(whole(cell));
}

const std::string& text(const Cell& cell) {
  static const std::string none;
  const auto* value = std::get_if<std::string>(&cell);
  return value ? *value : none;
}

pi::Result<std::unique_ptr<Engine>> Engine::open(const Options& options) {
  std::string path = options.library;
  if (const char* const given = ::secure_getenv("PITRACE_DUCKDB"); path.empty() && given)
    path = given;
  if (path.empty()) path = "libduckdb.so";
  // Never closed: its threads may outlive a query.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return pi::Error{-1, fmt::format("DuckDB cannot be loaded: {}.", ::dlerror())};
  Functions functions{};
  if (!find_all(library, functions))
    return pi::Error{-1, path + " is not DuckDB's library, or one of another generation."};
  auto engine = std::make_unique<DuckDb>(functions);
  if (const pi::Status status = engine->start(options.memory); !status) return status.error();
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace fleet
