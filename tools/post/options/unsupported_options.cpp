// SPDX-License-Identifier: MIT
// Options of Performance Inspector's post that this one does not have, each with the reason.
#include "unsupported_options.h"

namespace post {
namespace {

constexpr const char* no_debug = "there are no debugging codes";
constexpr const char* verbose = "use -verbose, or -showxx to see the records";
constexpr const char* unknown = "no description of what it did has survived";
constexpr const char* json = "programs should read tprof.json (--json)";

constexpr UnsupportedOption table[] = {
    {"mask", no_debug, verbose},
    {"d", no_debug, verbose},
    {"a2ntest", "the symbol library is tested by its own tests", "use scripts/check -R a2n"},
    {"undup",
     "equal names of one module would be distinguished by addresses that differ from run to run",
     "use -a2nrdup"},
    {"noskew", "all processors use the same clock, so that there is no skew to subtract",
     "leave it out"},
    {"aixtrc", "traces of AIX are not read", "record with swtrace"},
    {"oprof", unknown, json},
    {"nt", unknown, "leave it out"},
    {"nospace", unknown, json},
    {"int3", "branches were found by breakpoints in old versions only", "leave it out"},
    {"itsel", "branch records contain instructions and no other metrics", "leave it out"},
    {"oldjit", "no program writes the logs that preceded log-jita2n", "use JProf, or leave it out"},
};

}  // namespace

std::span<const UnsupportedOption> unsupported_options() {
  return table;
}

const UnsupportedOption* find_unsupported(std::string_view word) {
  if (!word.starts_with('-')) return nullptr;
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::string_view name = word.substr(0, word.find('='));
  for (const UnsupportedOption& option : table)
    if (name == option.name) return &option;
  return nullptr;
}

}  // namespace post
