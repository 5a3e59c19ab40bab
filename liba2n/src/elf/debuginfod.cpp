// SPDX-License-Identifier: MIT
// Gets separate debug files from debuginfod servers, with elfutils' client, which has a cache.
#include "debuginfod.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/budgets.h"

#ifdef A2N_WITH_DEBUGINFOD
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#endif

namespace a2n {

namespace {

constexpr char urls[] = "DEBUGINFOD_URLS";

const char* variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value && *value ? value : nullptr;
}

}  // namespace

#ifdef A2N_WITH_DEBUGINFOD

namespace {

constexpr std::chrono::seconds no_limit = std::chrono::hours(24 * 365);

// The Debuginfod whose transfer this thread waits for: the client calls back in the requesting
// thread.
thread_local Debuginfod* asking = nullptr;

}  // namespace

// The client's library needs libcurl and its dependencies, so it is loaded only when it is used.
class Debuginfod::Client {
 public:
  Client() : library_(::dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
      error_ = ::dlerror();
      return;
    }
    const auto begin = function<decltype(&debuginfod_begin)>("debuginfod_begin");
    const auto set_progress =
        function<decltype(&debuginfod_set_progressfn)>("debuginfod_set_progressfn");
    find_ = function<decltype(find_)>("debuginfod_find_debuginfo");
    end_ = function<decltype(end_)>("debuginfod_end");
    if (!error_.empty()) return;
    client_ = begin();
    if (!client_) {
      error_ = "out of memory";
      return;
    }
    set_progress(client_, [](debuginfod_client*, long done, long total) {
      const auto number = [](long value) { return static_cast<uint64_t>(value < 0 ? 0 : value); };
      return asking->may_go_on(number(done), number(total)) ? 0 : 1;
    });
  }
  // The library stays loaded: libcurl does not support dlclose().
  ~Client() {
    if (client_) end_(client_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& error() const { return error_; }

  // Returns a descriptor, or a negative errno.
  int find(const std::string& build_id, std::string& path) {
    char* found = nullptr;
    const int fd =
        find_(client_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &found);
    if (found) path = found;
    std::free(found);
    return fd;
  }

 private:
  template <class Function>
  Function function(const char* name) {
    void* const address = ::dlsym(library_, name);
    if (!address) error_ = std::string(DEBUGINFOD_SONAME) + " has no function " + name;
    return reinterpret_cast<Function>(address);
  }

  decltype(&debuginfod_find_debuginfo) find_ = nullptr;
  decltype(&debuginfod_end) end_ = nullptr;
  void* const library_;
  debuginfod_client* client_ = nullptr;
  std::string error_;
};

// The client itself applies the user's limits, too.
void Debuginfod::take_users_limits() {
  const char* const for_file = variable("DEBUGINFOD_MAXTIME");
  if (for_file || variable("DEBUGINFOD_TIMEOUT")) times_.silence = no_limit;
  if (!for_file) return;
  const std::chrono::seconds seconds(std::strtol(for_file, nullptr, 10));
  times_.file = seconds.count() > 0 ? std::min(seconds, no_limit) : no_limit;
  times_.all = std::max(times_.all, times_.file);
}

bool Debuginfod::start() {
  if (client_) return true;
  take_users_limits();
  client_ = std::make_unique<Client>();
  if (client_->error().empty()) return true;
  give_up(client_->error() + " (the Debian package libdebuginfod1 contains it)");
  return false;
}

Debuginfod::Cancelled Debuginfod::why_cancel(uint64_t bytes, Clock::time_point now) const {
  if (bytes > budgets::max_downloaded) return Cancelled::too_large;
  if (now - moved_ >= times_.silence) return Cancelled::silent;
  if (now - began_ >= times_.file) return Cancelled::file_too_slow;
  if (used_ + (now - began_) >= times_.all) return Cancelled::all_too_slow;
  return Cancelled::no;
}

bool Debuginfod::may_go_on(uint64_t done, uint64_t total) {
  const auto now = Clock::now();
  // Until a server answers, the client counts its calls in done, and total is 0.
  const bool moved = total != 0 ? done != done_ : done > done_ + 1;
  if (moved) moved_ = now;
  done_ = done;
  cancelled_ = why_cancel(std::max(done, total), now);
  if (cancelled_ == Cancelled::no && progress_ && moved) {
    progress_(progress_data_, path_, done, total);
    shown_ = true;
  }
  return cancelled_ == Cancelled::no;
}

void Debuginfod::report_failure(const std::string& path, int error) {
  const auto seconds = [](std::chrono::seconds time) {
    return std::to_string(time.count()) + " s";
  };
  switch (cancelled_) {
    case Cancelled::too_large:
      notes_.add(path +
                 ": its debug file at the debuginfod servers is not used: it has more than " +
                 std::to_string(budgets::max_downloaded >> 30) + " GiB");
      return;
    case Cancelled::silent:
      return give_up("the server does not answer in time");
    case Cancelled::file_too_slow:
      return give_up("the debug file of " + path + " takes longer than " + seconds(times_.file) +
                     " (DEBUGINFOD_MAXTIME sets another limit)");
    case Cancelled::all_too_slow:
      return give_up("the debug files take longer than " + seconds(times_.all) + " in all");
    case Cancelled::no:
      if (error != ENOENT)
        give_up(error == ETIME ? "the server does not answer in time" : std::strerror(error));
  }
}

std::optional<ElfFile> Debuginfod::find(const std::string& build_id, const std::string& path) {
  if (!on_ || build_id.empty() || !variable(urls) || !start()) return std::nullopt;
  path_ = path.c_str();
  done_ = 0;
  began_ = moved_ = Clock::now();
  shown_ = false;
  cancelled_ = Cancelled::no;
  std::string name;
  asking = this;
  const int result = client_->find(build_id, name);
  used_ += Clock::now() - began_;
  if (shown_) progress_(progress_data_, nullptr, 0, 0);
  if (result < 0) {
    report_failure(path, -result);
    return std::nullopt;
  }
  auto file = ElfFile::from_fd(pi::UniqueFd(result), name);
  if (file && file->layout().build_id == build_id) return std::move(*file);
  notes_.add(path + ": the debug file that debuginfod has sent is not used: " +
             (file ? "it has another build-id" : file.error().message));
  return std::nullopt;
}

#else

class Debuginfod::Client {};

bool Debuginfod::start() {
  give_up("this liba2n was built without it (package libdebuginfod-dev)");
  return false;
}

std::optional<ElfFile> Debuginfod::find(const std::string& build_id, const std::string&) {
  if (on_ && !build_id.empty() && variable(urls)) start();
  return std::nullopt;
}

#endif

Debuginfod::Debuginfod(Notes& notes, const budgets::ServerTimes& times)
    : notes_(notes), times_(times) {}

Debuginfod::~Debuginfod() = default;

void Debuginfod::use(a2n_progress progress, void* data) {
  on_ = true;
  progress_ = progress;
  progress_data_ = data;
}

void Debuginfod::give_up(const std::string& reason) {
  on_ = false;
  const char* const servers = variable(urls);
  notes_.add("debuginfod (" + std::string(servers ? servers : "") + "): " + reason +
             "; debug files are not asked for any more");
}

}  // namespace a2n
