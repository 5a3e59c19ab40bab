// SPDX-License-Identifier: MIT
// Words of call flow: the types of methods and the transitions between them.
// Definition: section 4.1 of the paper that pitrace/abi.h names; C functions: its section 4.3.
#ifndef PI_CALLFLOW_TYPES_H
#define PI_CALLFLOW_TYPES_H

#include <cstddef>
#include <cstdint>

namespace pi::callflow {

// What runs a method at the moment of an event. The overhead of a probe depends on it, so it
// selects what calibration subtracts. Java distinguishes static methods, whose glue code passes no
// object.
enum class Type : uint8_t {
  interpreted,
  interpreted_static,
  jitted,
  jitted_static,
  native,
  native_static,
  compiling,         // the JVM's compiler
  other,             // unknown: a caller that was entered before the recording started
  c_function,        // compiled with hooks
  patched_function,  // a C function that gets its hooks at run time
};
constexpr size_t type_count = 10;

enum class Transition : uint8_t {
  entry,
  exit,
  exit_by_exception,
};
constexpr size_t transition_count = 3;

constexpr size_t max_metrics = 8;

// The letter of a sequence: I J N, lower case for static methods, C O F P.
constexpr char letter_of(Type type) {
  constexpr char letters[] = "IiJjNnCOFP";
  return letters[static_cast<size_t>(type)];
}

// The letter before a method's name in reports: how a C function gets its hooks does not matter.
constexpr char name_letter_of(Type type) {
  return letter_of(type == Type::patched_function ? Type::c_function : type);
}

// Type before an event, the event, the type that ran until the next event, that event, and the type
// after it: what the overhead between two events is assumed to depend on.
struct Sequence {
  Type before;
  Transition first;
  Type running;
  Transition second;
  Type after;
  bool operator==(const Sequence&) const = default;
};
constexpr size_t sequence_count =
    type_count * transition_count * type_count * transition_count * type_count;

// The sequence's number, below sequence_count, and the reverse.
constexpr size_t index_of(const Sequence& s) {
  size_t index = static_cast<size_t>(s.before);
  index = index * transition_count + static_cast<size_t>(s.first);
  index = index * type_count + static_cast<size_t>(s.running);
  index = index * transition_count + static_cast<size_t>(s.second);
  return index * type_count + static_cast<size_t>(s.after);
}

constexpr Sequence sequence_at(size_t index) {
  Sequence s{};
  s.after = static_cast<Type>(index % type_count);
  index /= type_count;
  s.second = static_cast<Transition>(index % transition_count);
  index /= transition_count;
  s.running = static_cast<Type>(index % type_count);
  index /= type_count;
  s.first = static_cast<Transition>(index % transition_count);
  s.before = static_cast<Type>(index / transition_count);
  return s;
}

constexpr bool is_c(Type type) {
  return type == Type::c_function || type == Type::patched_function;
}

// Whether a program can produce the sequence if each call that ends has an event. Sequences that
// cannot occur show that calls ended without one, by longjmp() or a stack overflow, and so what was
// measured is not only a probe's cost. What decides:
//   The JVM's compilers have no events.
//   C functions end by no exception that the hooks see; the profiler's own work, whose type is
//     other, calls nothing and ends by none. All else of this type was entered before the recording
//     started, and so were its callers.
//   A method that was called returns to its caller, whose type is still the same: a method's type
//     changes only when it ends. A patched function may end with a jump to another one, which then
//     returns to the caller's caller.
constexpr bool can_occur(const Sequence& s) {
  if (s.before == Type::compiling || s.running == Type::compiling || s.after == Type::compiling)
    return false;
  const bool is_called = s.first == Transition::entry;
  const bool returns = s.second != Transition::entry;
  if (s.first == Transition::exit_by_exception && (is_c(s.before) || s.before == Type::other))
    return false;
  if (s.second == Transition::exit_by_exception && is_c(s.running)) return false;
  if (!is_called) return s.running != Type::other || !returns || s.after == Type::other;
  if (s.running == Type::other && s.second != Transition::exit) return false;
  const bool may_jump = s.before == Type::patched_function && s.running == Type::patched_function;
  return !returns || s.before == s.after || may_jump;
}

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_TYPES_H
