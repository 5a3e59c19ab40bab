// SPDX-License-Identifier: MIT
// The recorder's requests for ITrace.
#include "itrace_requests.h"

#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "perfutil.h"

namespace pi::swtrace {
namespace {

Reply reply_of(int rc) {
  return {rc, rc == PU_SUCCESS ? "" : PiErrorText()};
}

// All words after the verb as numbers; nothing if one is no number.
std::optional<std::vector<uint32_t>> numbers(const Request& request) {
  std::vector<uint32_t> all;
  for (size_t i = 1; i < request.size(); ++i) {
    const std::string& word = request[i];
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    all.push_back(value);
  }
  return all;
}

// Pairs of first and last, from this index on.
int enable(const std::vector<uint32_t>& words, size_t place) {
  int rc = PU_SUCCESS;
  for (; rc == PU_SUCCESS && place + 1 < words.size(); place += 2)
    rc = ITraceEnableRange(static_cast<int>(words[place]), static_cast<int>(words[place + 1]));
  return rc;
}

// it_install FLAGS THREADS RESERVE [FIRST LAST]...; on an error nothing is installed.
Reply install(const std::vector<uint32_t>& words) {
  const int rc = PiITraceInit(static_cast<int>(words[0]), words[1], words[2]);
  if (rc != PU_SUCCESS) return reply_of(rc);
  Reply reply = reply_of(enable(words, 3));
  if (reply.rc != PU_SUCCESS) (void)ITraceTerminate();
  return reply;
}

Reply status_reply() {
  pi_itrace_status now{};
  now.size = sizeof now;
  if (const int rc = PiITraceStatus(&now); rc != PU_SUCCESS) return reply_of(rc);
  return {PU_SUCCESS,
          fmt::format("installed={}\non={}\nflags={}\nhow={}\nthreads={}\nuntraced={}\ndirty={}\n"
                      "steps={}\nbranches={}\ngaps={}\n",
                      now.installed, now.on, now.flags, now.how, now.threads, now.untraced,
                      now.dirty, now.steps, now.branches, now.gaps)};
}

}  // namespace

std::optional<Reply> answer_itrace(const Request& request) {
  const std::string& verb = request.front();
  if (!verb.starts_with("it_")) return std::nullopt;
  const auto words = numbers(request);
  const Reply malformed{PU_ERROR_INVALID_PARAMETER,
                        fmt::format("The request '{}' is malformed.", verb)};
  if (!words) return malformed;
  if (verb == "it_install")
    return words->size() >= 3 && words->size() % 2 == 1 ? install(*words) : malformed;
  if (verb == "it_enable")
    return words->size() >= 2 && words->size() % 2 == 0 ? reply_of(enable(*words, 0)) : malformed;
  if (!words->empty()) return malformed;
  if (verb == "it_remove") return reply_of(ITraceTerminate());
  if (verb == "it_on") return reply_of(ITraceOn());
  if (verb == "it_off") return reply_of(ITraceOff());
  if (verb == "it_info") return status_reply();
  return std::nullopt;
}

}  // namespace pi::swtrace
