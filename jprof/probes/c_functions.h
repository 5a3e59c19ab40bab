// SPDX-License-Identifier: MIT
// C and C++ functions in JProf's trees: the libraries with hookit in this JVM.
#ifndef PI_JPROF_C_FUNCTIONS_H
#define PI_JPROF_C_FUNCTIONS_H

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <joined_engine.h>
#include <minima.h>

namespace pi::jprof {

// Thread-safe. Several objects of hookit can be in one process: the shared library, and static ones
// in libraries.
class CFunctions {
 public:
  // Before the first call of add(). trains: what the hooks cost is to be learned.
  void set(bool saves_vectors, bool trains);

  // Those that were loaded before JProf call add().
  void find_hooks(pi::callflow::JoinFunction join) const;
  void add(const pi::callflow::JoinedHooks& hooks);

  // A recording has begun, or has ended.
  void begin();
  void end();
  // A library may have been loaded.
  void see_libraries();

  // Adds what was learned since the last call to the minima.
  void take_minima(pi::callflow::Minima& minima);
  std::string name(uint64_t function) const;

 private:
  struct Joined {
    const pi::callflow::JoinedHooks* hooks;
    bool trained;
  };

  void begin(Joined& joined);
  std::vector<const pi::callflow::JoinedHooks*> all() const;

  mutable std::mutex mutex_;
  std::vector<Joined> joined_;
  pi::callflow::Minima minima_;
  bool records_ = false;
  bool saves_vectors_ = false;
  bool trains_ = false;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_C_FUNCTIONS_H
