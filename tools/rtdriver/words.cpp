// SPDX-License-Identifier: MIT
// What a user types, and what is sent.
#include "words.h"

#include <algorithm>

#include <pi/words.h>

namespace pi::rtdriver {
namespace {

struct Word {
  std::string_view typed;  // separated by blanks
  std::string_view sent;
};

constexpr Word words[] = {
    {"jd jdump jlmdump", "jlmdump"},
    {"jdr jdumpr jlmdumpr", "jlmdump,jlmreset"},
    {"gc fgc forcegc", "fgc"},
    {"jlm jlmstart", "jlmstart"},
    {"jlml jlmlite jlmlstart jlmlitestart", "jlmstartlite"},
    {"jstop jlmoff jlmstop", "jlmstop"},
    {"jreset jlmreset", "jlmreset"},
};
constexpr std::string_view ending = "xx exit_rtdriver", asking = "? help",
                           single = "allhelp jprofhelp alljprofhelp jprofinfo";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// Other commands are sent as they were typed: values, such as paths, have upper and lower case.
std::string_view sent_for(const std::string& word, std::string_view typed) {
  for (const auto& [names, sent] : words)
    if (contains_word(names, word)) return sent;
  return typed;
}

}  // namespace

Translated translate(std::string_view line) {
  Translated result;
  bool all_single = true;
  while (!line.empty()) {
    const size_t end = std::min(line.find(','), line.size());
    const std::string_view typed = trimmed(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    if (typed.empty()) continue;
    const std::string word = lower(typed);
    if (contains_word(asking, word)) {
      result.help = true;
    } else if (contains_word(ending, word)) {
      result.ends = true;
      break;
    } else {
      result.message += (result.message.empty() ? "" : ",") + std::string(sent_for(word, typed));
      all_single = all_single && contains_word(single, word);
    }
    if (word == "shutdown" ||
        (word.starts_with("gc") && trimmed(std::string_view(word).substr(2)) == "shutdown")) {
      result.ends = result.shuts_down = true;
      break;
    }
  }
  result.to_all = result.message.empty() || !all_single;
  return result;
}

std::string words_help() {
  return "Commands, which are sent to the JVMs; several are separated by commas:\n"
         "  start, start=SEC  record calls, at once or after SEC seconds\n"
         "  stop              record no more calls, write the logs, forget them\n"
         "  flush             write the logs now; the recording continues\n"
         "  reset             set all counts to 0\n"
         "  jlm, jlml         count gets of Java monitors, with hold times or without\n"
         "  jd, jreset, jstop write log-jlm, set its counts to 0, count no more\n"
         "  gc, fgc, forcegc  collect garbage; 'gc flush' does that before flush\n"
         "  jprofinfo         show what is recorded and written\n"
         "  allhelp           show all commands of the JVM\n"
         "  shutdown          stop, and accept no more commands; the JVM continues. Ends rtdriver\n"
         "Words for rtdriver:\n"
         "  xx, exit_rtdriver  end rtdriver; the JVM continues\n"
         "  ?, help            print this help\n";
}

}  // namespace pi::rtdriver
