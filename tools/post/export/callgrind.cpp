// SPDX-License-Identifier: MIT
// Writes the callgrind format. Functions of the same name in the same module are one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export.h"
#include "stacks.h"
#include "text/path_tree.h"
#include "text/text.h"

namespace post {
namespace {

// The format has the text of a number only where it gives the number first: "(3) text", later
// "(3)".
class References {
 public:
  template <class TextOf>
  std::string to(uint32_t number, const TextOf& text_of) {
    if (written_.size() <= number) written_.resize(number + 1);
    if (written_[number]) return fmt::format("({})", number);
    written_[number] = true;
    return fmt::format("({}) {}", number, text_of());
  }

 private:
  std::vector<bool> written_;
};

struct Inclusive {
  uint64_t ticks = 0;
  uint64_t guessed = 0;  // of these, those for which the caller is a guess
};

// Without its name, as a trace can have millions.
struct Function {
  FrameId frame = 0;    // one that has the name
  uint32_t module = 0;  // its number
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
  // "???": it has none.
  std::string module_of(FrameId id) const {
    const Frame& frame = calls_.frames().frame(id);
    return frame.marker || frame.found == Found::no_module
               ? "???"
               : printable(calls_.names().text(frame.module));
  }
  std::string name_of(FrameId id) const { return calls_.frames().folded_name(id); }

  uint32_t intern(FrameId guess_or_not) {
    const FrameId id = calls_.frames().certain(guess_or_not);
    const Frame& frame = calls_.frames().frame(id);
    const bool named = frame.found == Found::symbol || frame.found == Found::function;
    const bool has_module = !frame.marker && frame.found != Found::no_module;
    // What the texts depend on.
    const uint32_t kind = (named ? 4u : 0u) | (has_module ? 2u : 0u) | (frame.kernel ? 1u : 0u);
    const uint32_t place =
        known_.child(known_.child(known_.child(PathTree::root, has_module ? frame.module : no_name),
                                  named ? frame.symbol : no_name),
                     kind);
    if (numbers_.size() <= place) numbers_.resize(place + 1);
    if (numbers_[place] == 0) {
      const auto module = static_cast<uint32_t>(modules_.size() + 1);
      functions_.push_back({id, modules_.try_emplace(module_of(id), module).first->second, 0, {}});
      numbers_[place] = static_cast<uint32_t>(functions_.size());
    }
    return numbers_[place];
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
    std::string text = fmt::format("\nob={}\nfl=(1){}\nfn={}\n0 {}\n", module_reference(function),
                                   std::exchange(file_written_, true) ? "" : " ???",
                                   name_reference(number), costs(function.self, 0));
    for (const auto& [callee, sum] : function.callees)
      text += fmt::format("cob={}\ncfi=(1)\ncfn={}\ncalls={} 0\n0 {}\n",
                          module_reference(functions_[callee - 1]), name_reference(callee),
                          sum.ticks, costs(sum.ticks, sum.guessed));
    return text;
  }
  std::string module_reference(const Function& function) {
    return module_references_.to(function.module, [&] { return module_of(function.frame); });
  }
  std::string name_reference(uint32_t number) {
    return name_references_.to(number, [&] { return name_of(functions_[number - 1].frame); });
  }

  const CallTree& calls_;
  const bool guesses_;
  PathTree known_;                 // module, symbol, kind
  std::vector<uint32_t> numbers_;  // of functions, by place there; 0: none
  std::unordered_map<std::string, uint32_t> modules_;
  References name_references_, module_references_;
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
