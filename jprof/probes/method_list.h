// SPDX-License-Identifier: MIT
// The methods of a recording by number, and what is not recorded.
#ifndef PI_JPROF_METHOD_LIST_H
#define PI_JPROF_METHOD_LIST_H

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pi::jprof {

// The id of a method in a recording: its number, and a bit that no address of a C function has.
constexpr uint64_t java_bit = uint64_t{1} << 63;
constexpr uint64_t id_of_method(uint32_t number) {
  return java_bit | number;
}

// Thread-safe. Names are the JVM's: modified UTF-8.
class MethodList {
 public:
  // The number of a method, from 1. Methods with the same name, of classes of several loaders or of
  // a class that was changed, have the same number, so that each exit fits its entry.
  uint32_t add(std::string_view method);
  // 0: there is none.
  uint32_t find(std::string_view method) const;
  // id: of a method of Java.
  std::string name(uint64_t id) const;

  // The calls of a method, or of the methods of a class, are not all recorded.
  void report(std::string_view what, std::string_view why);
  // The reasons by WHAT.
  std::map<std::string, std::string> unrecorded() const;
  // Lines "WHAT: WHY" in the order of WHAT.
  std::string unrecorded_text() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, uint32_t> numbers_;  // of names_
  std::map<std::string, std::string> unrecorded_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_METHOD_LIST_H
