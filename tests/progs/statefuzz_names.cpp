// SPDX-License-Identifier: MIT
// Names of statefuzz's calls and commands.
#include "statefuzz.h"

#include <cstdarg>
#include <cstdio>

namespace statefuzz {

namespace {

struct Command {
  uint32_t number;
  const char* name;
};
constexpr Command commands[] = {{PITRACE_IOC_ON, "ON"},
                                {PITRACE_IOC_OFF, "OFF"},
                                {PITRACE_IOC_TERMINATE, "TERMINATE"},
                                {PITRACE_IOC_INFO, "INFO"},
                                {PITRACE_IOC_ALLOC, "ALLOC"},
                                {PITRACE_IOC_ENABLE, "ENABLE"},
                                {PITRACE_IOC_DISABLE, "DISABLE"},
                                {PITRACE_IOC_RATE, "RATE"},
                                {PITRACE_IOC_SUSPEND, "SUSPEND"},
                                {PITRACE_IOC_RESUME, "RESUME"},
                                {PITRACE_IOC_DISCARD, "DISCARD"},
                                {PITRACE_IOC_CONSUMED, "CONSUMED"},
                                {PITRACE_IOC_HOOK, "HOOK"},
                                {PITRACE_IOC_STACKS, "STACKS"},
                                {PITRACE_IOC_COPIES, "COPIES"},
                                {PITRACE_IOC_EVENT, "EVENT"},
                                {PITRACE_IOC_AI_ON, "AI_ON"},
                                {PITRACE_IOC_AI_OFF, "AI_OFF"},
                                {PITRACE_IOC_AI_READ, "AI_READ"},
                                {PITRACE_IOC_IT_INSTALL, "IT_INSTALL"},
                                {PITRACE_IOC_IT_REMOVE, "IT_REMOVE"},
                                {PITRACE_IOC_IT_ON, "IT_ON"},
                                {PITRACE_IOC_IT_OFF, "IT_OFF"},
                                {PITRACE_IOC_IT_INFO, "IT_INFO"},
                                {PITRACE_IOC_IT_ENABLE, "IT_ENABLE"},
                                {PITRACE_IOC_IT_DISABLE, "IT_DISABLE"},
                                {PITRACE_IOC_PROBE, "PROBE"},
                                {PITRACE_PTT_IOC_INIT, "PTT_INIT"},
                                {PITRACE_PTT_IOC_TERM, "PTT_TERM"},
                                {PITRACE_PTT_IOC_DUMP, "PTT_DUMP"},
                                {PITRACE_PTT_IOC_INTS, "PTT_INTS"},
                                {PITRACE_PTT_IOC_RESIDUE, "PTT_RESIDUE"},
                                {PITRACE_PTT_IOC_INFO, "PTT_INFO"},
                                {PITRACE_PTT_IOC_ATTACH, "PTT_ATTACH"},
                                {PITRACE_PTT_IOC_DETACH, "PTT_DETACH"},
                                {PITRACE_PTT_IOC_READ, "PTT_READ"}};

constexpr const char* kind_names[] = {
    "open", "close", "duplicate", "ioctl", "map",  "unmap",   "protect",     "remap",     "advise",
    "poke", "look",  "compare",   "poll",  "send", "receive", "credentials", "parameter", "pause"};
static_assert(sizeof kind_names / sizeof kind_names[0] == kinds);

constexpr const char* where_names[] = {"", " in a fork", " in a child with the same memory",
                                       " in another program", " in a set-user-id program"};
constexpr const char* pointer_names[] = {"good",      "at the edge", "split",
                                         "read-only", "NULL",        "8",
                                         "kernel",    "kernel text", "not canonical"};

}  // namespace

const char* name_of(Kind kind) {
  return kind_names[static_cast<int>(kind)];
}

int index_of_command(uint32_t command) {
  int index = 0;
  for (const Command& known : commands) {
    if (known.number == command) return index;
    ++index;
  }
  return index;
}

std::string name_of_command(uint32_t command) {
  for (const Command& known : commands)
    if (known.number == command) return known.name;
  char text[24];
  std::snprintf(text, sizeof text, "%#x", command);
  return text;
}

std::string name_of_index(int index) {
  constexpr int count = sizeof commands / sizeof commands[0];
  return index < count ? commands[index].name : "others";
}

namespace {

// A text of limited length; what does not fit is cut off.
class Text {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    if (length_ >= sizeof text_) return;
    va_list values;
    va_start(values, format);
    length_ += static_cast<size_t>(
        std::vsnprintf(text_ + length_, sizeof text_ - length_, format, values));
    va_end(values);
  }
  std::string string() const { return text_; }

 private:
  char text_[400] = "";
  size_t length_ = 0;
};

}  // namespace

std::string describe(const Call& call) {
  Text text;
  text.add("%s", name_of(call.kind));
  if (call.kind == Kind::ioctl) {
    text.add(" %s handle %d %s", name_of_command(call.command).c_str(), call.handle,
             pointer_names[static_cast<int>(call.pointer)]);
    if (call.split) text.add(" by %u of %u", call.split, call.size);
    if (call.compat) text.add(" 32-bit");
    for (int i = 0; i < 6 && i * 4 < call.size; ++i) {
      uint32_t word;
      __builtin_memcpy(&word, call.payload + i * 4, sizeof word);
      text.add(" %x", word);
    }
  } else {
    text.add(" handle %d other %d device %u", call.handle, call.other, call.command);
  }
  for (const uint64_t number : call.number)
    text.add(" %llx", static_cast<unsigned long long>(number));
  text.add("%s", where_names[static_cast<int>(call.where)]);
  return text.string();
}

}  // namespace statefuzz
