// SPDX-License-Identifier: MIT
// Writes the callgrind format. Functions of the same name in the same module are one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export.h"
#include "stacks.h"
#include "text/text.h"

namespace post {
namespace {

// Numbers of texts. The format has the text only where it gives the number first.
class Numbers {
 public:
  uint32_t of(const std::string& text) {
    return numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }
  // "(3) text", later "(3)".
  std::string reference(uint32_t number, const std::string& text) {
    if (written_.size() <= number) written_.resize(number + 1);
    if (written_[number]) return fmt::format("({})", number);
    written_[number] = true;
    return fmt::format("({}) {}", number, text);
  }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<bool> written_;
};

struct Inclusive {
  uint64_t ticks = 0;
  uint64_t guessed = 0;  // of these, those for which the caller is a guess
};

struct Function {
  uint32_t module = 0;
  std::string module_name;
  std::string name;
  uint64_t self = 0;
  std::map<uint32_t, Inclusive> callees;  // by function
};

class CallgrindWriter {
 public:
  explicit CallgrindWriter(const CallTree& calls)
      : calls_(calls), guesses_(calls.frames().has_guesses()), function_of_(calls.frames().size()) {
    for (FrameId id = 0; id < function_of_.size(); ++id) function_of_[id] = intern(id);
    const Stacks stacks(calls);
    for (const StackOwner& owner : stacks.owners())
      stacks.for_each(owner, [&](std::span<const FrameId> stack, uint64_t ticks) {
        return add(stack, ticks), true;
      });
  }

  bool write(const ExportFacts& facts, Sink& sink) {
    bool good = sink.write("# callgrind format\nversion: 1\ncreator: post (pitrace)\n");
    for (const std::string& remark : facts.remarks)
      good = good && sink.write(fmt::format("desc: Remark: {}\n", remark));
    good =
        good &&
        sink.write(fmt::format(
            "cmd: {}\npositions: line\nevent: Ticks : {}\n{}events: Ticks{}\nsummary: {}\n",
            facts.title, facts.event.empty() ? "ticks of the clock" : "ticks by " + facts.event,
            guesses_ ? "event: Guessed : of these, those for which the function is a guess\n" : "",
            guesses_ ? " Guessed" : "", costs(all_, all_guessed_)));
    for (uint32_t number = 1; number <= functions_.size() && good; ++number)
      good = sink.write(text_of(number));
    return good;
  }

 private:
  uint32_t intern(FrameId id) {
    const Frame& frame = calls_.frames().frame(id);
    const std::string name = calls_.frames().folded_name(calls_.frames().certain(id));
    const std::string module = frame.marker || frame.found == Found::no_module
                                   ? "???"
                                   : printable(calls_.names().text(frame.module));
    const uint32_t number = names_.of(module + '\n' + name);
    if (number > functions_.size())
      functions_.push_back({modules_.of(module), module, name, 0, {}});
    return number;
  }

  void add(std::span<const FrameId> stack, uint64_t ticks) {
    all_ += ticks;
    functions_[function_of_[stack.back()] - 1].self += ticks;
    std::vector<std::tuple<uint32_t, uint32_t, bool>>
        calls;  // caller, callee; false: it is a guess
    for (size_t i = 1; i < stack.size(); ++i)
      calls.emplace_back(function_of_[stack[i - 1]], function_of_[stack[i]],
                         !calls_.frames().frame(stack[i - 1]).guessed);
    std::ranges::sort(calls);
    bool any = false;
    std::pair<uint32_t, uint32_t> last;
    for (const auto& [caller, callee, certain] : calls) {
      if (std::exchange(last, {caller, callee}) == std::pair(caller, callee)) continue;
      Inclusive& sum = functions_[caller - 1].callees[callee];
      sum.ticks += ticks;
      if (!certain) sum.guessed += ticks;
      any |= !certain;
    }
    if (any) all_guessed_ += ticks;
  }

  // The numbers of a line, one for each event.
  std::string costs(uint64_t ticks, uint64_t guessed) const {
    return guesses_ ? fmt::format("{} {}", ticks, guessed) : fmt::format("{}", ticks);
  }

  std::string text_of(uint32_t number) {
    const Function& function = functions_[number - 1];
    if (function.self == 0 && function.callees.empty()) return {};
    std::string text =
        fmt::format("\nob={}\nfl=(1){}\nfn={}\n0 {}\n",
                    modules_.reference(function.module, function.module_name),
                    std::exchange(file_written_, true) ? "" : " ???",
                    names_.reference(number, function.name), costs(function.self, 0));
    for (const auto& [callee, sum] : function.callees) {
      const Function& other = functions_[callee - 1];
      text += fmt::format("cob={}\ncfi=(1)\ncfn={}\ncalls={} 0\n0 {}\n",
                          modules_.reference(other.module, other.module_name),
                          names_.reference(callee, other.name), sum.ticks,
                          costs(sum.ticks, sum.guessed));
    }
    return text;
  }

  const CallTree& calls_;
  const bool guesses_;
  Numbers names_, modules_;
  bool file_written_ = false;
  std::vector<Function> functions_;    // function number i is at i - 1
  std::vector<uint32_t> function_of_;  // by frame
  uint64_t all_ = 0;
  uint64_t all_guessed_ = 0;  // ticks with any guess
};

}  // namespace

bool write_callgrind(const CallTree& calls, const ExportFacts& facts, Sink& sink) {
  return CallgrindWriter(calls).write(facts, sink);
}

}  // namespace post
