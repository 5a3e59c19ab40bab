// SPDX-License-Identifier: MIT
// Gets separate debug files from debuginfod servers, with elfutils' client, which has a cache.
#include "debuginfod.h"

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

// A transfer without data for this time is cancelled, unless the user has set limits.
constexpr std::chrono::seconds patience{30};

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

bool Debuginfod::start() {
  if (client_) return true;
  client_ = std::make_unique<Client>();
  if (client_->error().empty()) return true;
  give_up(client_->error() + " (the Debian package libdebuginfod1 contains it)");
  return false;
}

bool Debuginfod::may_go_on(uint64_t done, uint64_t total) {
  const auto now = std::chrono::steady_clock::now();
  // Until a server answers, the client counts its calls in done, and total is 0.
  const bool moved = total != 0 ? done != done_ : done > done_ + 1;
  if (moved) moved_ = now;
  done_ = done;
  too_large_ = std::max(done, total) > budgets::max_downloaded;
  if (too_large_) return false;
  if (progress_ && moved) {
    progress_(progress_data_, path_, done, total);
    shown_ = true;
  }
  const bool limited_by_user = variable("DEBUGINFOD_TIMEOUT") || variable("DEBUGINFOD_MAXTIME");
  stalled_ = !limited_by_user && now - moved_ >= patience;
  return !stalled_;
}

std::optional<ElfFile> Debuginfod::find(const std::string& build_id, const std::string& path) {
  if (!on_ || build_id.empty() || !variable(urls) || !start()) return std::nullopt;
  path_ = path.c_str();
  done_ = 0;
  moved_ = std::chrono::steady_clock::now();
  shown_ = too_large_ = stalled_ = false;
  std::string name;
  asking = this;
  const int result = client_->find(build_id, name);
  if (shown_) progress_(progress_data_, nullptr, 0, 0);
  if (result >= 0) {
    auto file = ElfFile::from_fd(pi::UniqueFd(result), name);
    if (file && file->layout().build_id == build_id) return std::move(*file);
    notes_.add(path + ": the debug file that debuginfod has sent is not used: " +
               (file ? "it has another build-id" : file.error().message));
  } else if (too_large_) {
    notes_.add(path + ": its debug file at the debuginfod servers is not used: it has more than " +
               std::to_string(budgets::max_downloaded >> 30) + " GiB");
  } else if (stalled_ || result != -ENOENT) {
    give_up(stalled_ || result == -ETIME ? "the server does not answer in time"
                                         : std::strerror(-result));
  }
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

Debuginfod::Debuginfod(Notes& notes) : notes_(notes) {}

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
