// SPDX-License-Identifier: MIT
// The names of methods in a report: each is looked up once.
#ifndef PI_CALLFLOW_METHOD_NAMES_H
#define PI_CALLFLOW_METHOD_NAMES_H

#include <string>
#include <unordered_map>

#include "report.h"

namespace pi::callflow {

class MethodNames {
 public:
  explicit MethodNames(const NameOf& name_of) : name_of_(name_of) {}

  // Without control characters; valid until this object ends.
  const std::string& of(uint64_t method);

 private:
  const NameOf& name_of_;
  std::unordered_map<uint64_t, std::string> names_;
};

// The letter before a method's name in a report.
char name_letter_in(const Snapshot& snapshot, const CallNode& node);

// "000012AB_main".
std::string thread_label(const TreeCopy& thread);

// Appends the number, right-aligned to at least width characters.
void append_number(std::string& text, int64_t value, size_t width);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_METHOD_NAMES_H
