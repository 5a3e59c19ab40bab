// SPDX-License-Identifier: MIT
// Advice on programs with many ticks or callers that have no name.
#include "hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pitrace/abi.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "hint_callers.h"
#include "text/labels.h"
#include "text/text.h"

namespace post {
namespace {

constexpr uint64_t percent_without_hint = 5;
constexpr uint64_t few_ticks = 5;  // no hint for fewer ticks without a name
constexpr size_t max_hints = 5;
constexpr size_t max_files = 3;  // maximum number of files that a hint names

// ---- kinds of programs -------------------------------------------------------------------------

// A runtime: the name of its file, and the option that makes it log the names of compiled code.
struct Runtime {
  std::string_view file;       // the beginning of its file's name
  unsigned minor_version = 0;  // that follows ".", at least this
  std::string_view advice;
  std::string_view brief;
  bool interprets = false;  // ticks are in its own functions, which have names
};

constexpr Runtime runtimes[] = {
    {"node", 0,
     "start node with --perf-basic-prof (or --perf-prof) for the names of JavaScript functions",
     "start node with --perf-basic-prof"},
    {"libnode.so", 0,
     "start node with --perf-basic-prof (or --perf-prof) for the names of JavaScript functions",
     "start node with --perf-basic-prof"},
    {"libjvm.so", 0,
     "load JProf into Java for the names of its methods: 'run.tprof -- java ...' does, as does "
     "java -agentpath:.../libjprof.so=tprof (see jprof(7))",
     "load JProf, as 'run.tprof -- java ...' does"},
    {"libcoreclr.so", 0,
     "set DOTNET_PerfMapEnabled=1 in the environment of .NET for the names of its methods",
     "set DOTNET_PerfMapEnabled=1"},
    {"python3", 12, "start it as 'python3 -X perf' for the names of Python functions",
     "start it as 'python3 -X perf'", true},
    {"libpython3", 12, "start it as 'python3 -X perf' for the names of Python functions",
     "start it as 'python3 -X perf'", true},
};

constexpr Runtime unknown_runtime = {
    "", 0,
    "it executes code that is in no file; if its runtime can write /tmp/perf-PID.map or a jitdump "
    "file, let it do so",
    "let its runtime write /tmp/perf-PID.map"};

// Packages whose debug symbols are not in PACKAGE-dbgsym.
struct DebugPackage {
  std::string_view package;  // its beginning
  bool whole;                // ... is its whole name
  std::string_view debug;    // "": the name up to the first "-", without "lib", and "-dbg"
};
constexpr DebugPackage debug_packages[] = {
    {"libc6", true, "libc6-dbg"},
    {"libc-bin", true, "libc6-dbg"},
    {"python3.", false, ""},
    {"libpython3.", false, ""},
};

std::string debug_package(std::string_view package) {
  for (const DebugPackage& known : debug_packages) {
    if (known.whole ? package != known.package : !package.starts_with(known.package)) continue;
    if (!known.debug.empty()) return std::string(known.debug);
    if (package.starts_with("lib")) package.remove_prefix(3);
    return fmt::format("{}-dbg", package.substr(0, package.find('-')));
  }
  return fmt::format("{}-dbgsym", package);
}

// Distributions have these packages in an archive of their own.
bool is_in_debug_archive(const std::string& package) {
  return package.ends_with("-dbgsym");
}

// ---- ticks of a program without a name ---------------------------------------------------------

struct Program {
  uint64_t ticks = 0;
  uint64_t generated = 0;                 // without a name, outside of files
  uint64_t kernel = 0;                    // without a name, in the kernel, but not in its modules
  std::map<std::string, uint64_t> files;  // ticks without a name, by path
  // The same in files that a note reports as not used.
  std::map<std::string, uint64_t> refused;
  std::map<std::string, uint64_t> modules;  // all ticks, by path
  CallerNames callers;

  uint64_t file_ticks() const { return sum(files); }
  uint64_t refused_ticks() const { return sum(refused); }
  uint64_t unnamed() const { return generated + kernel + sum(files) + sum(refused); }

 private:
  static uint64_t sum(const std::map<std::string, uint64_t>& ticks_by_path) {
    uint64_t all = 0;
    for (const auto& [path, some] : ticks_by_path) all += some;
    return all;
  }
};

std::map<std::string, Program> count(const SampleTree& tree, const StringTable& names,
                                     const LabelOptions& labels,
                                     const std::vector<std::string>& notes) {
  // Other notes are about files that are used in part.
  const auto is_refused = [&notes](const std::string& module) {
    return std::ranges::any_of(notes, [begin = module + ":"](const std::string& note) {
      return note.starts_with(begin) && (note.find("symbols not used") != note.npos ||
                                         note.find("no symbols for it") != note.npos);
    });
  };
  std::map<std::string, Program> programs;
  for (const Leaf& leaf : tree.leaves()) {
    if (leaf.ticks == 0) continue;
    const auto text = [&](Level level) -> const std::string& {
      return names.text(static_cast<NameId>(leaf.path[static_cast<size_t>(level)]));
    };
    const std::string& module = text(Level::module);
    Program& program = programs[process_base_name(text(Level::process), labels)];
    program.ticks += leaf.ticks;
    program.modules[module] += leaf.ticks;
    if (leaf.found == Found::symbol) continue;
    if (is_refused(module))
      program.refused[module] += leaf.ticks;
    else if (leaf.found != Found::no_module && is_file(module))
      program.files[module] += leaf.ticks;
    else if (module == PITRACE_KERNEL_NAME)
      program.kernel += leaf.ticks;
    else if (is_generated(leaf.found, module))
      program.generated += leaf.ticks;
  }
  return programs;
}

// ---- sentences ---------------------------------------------------------------------------------

std::string_view last_component(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_runtime(std::string_view file, const Runtime& runtime) {
  if (!file.starts_with(runtime.file)) return false;
  file.remove_prefix(runtime.file.size());
  if (runtime.minor_version == 0) return file.empty() || file.starts_with('.');
  unsigned minor = 0;
  return file.starts_with('.') &&
         std::from_chars(file.data() + 1, file.data() + file.size(), minor).ec == std::errc() &&
         minor >= runtime.minor_version;
}

const Runtime* runtime_of(const Program& program) {
  for (const Runtime& runtime : runtimes)
    for (const auto& [module, ticks] : program.modules)
      if (is_file(module) && is_runtime(last_component(module), runtime)) return &runtime;
  return nullptr;
}

// The files with most of these ticks, at most max_files.
std::vector<std::string> hottest_files(const std::map<std::string, uint64_t>& ticks_by_path) {
  std::vector<std::pair<uint64_t, std::string>> files;
  for (const auto& [path, ticks] : ticks_by_path) files.emplace_back(ticks, path);
  std::ranges::sort(files, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (files.size() > max_files) files.resize(max_files);
  std::vector<std::string> paths;
  for (auto& [ticks, path] : files) paths.push_back(std::move(path));
  return paths;
}

struct Advice {
  std::string text;
  std::string brief;
};

Advice advice_on_files(const std::vector<std::string>& files, const Packages& packages) {
  std::set<std::string> wanted;
  for (const std::string& file : files)
    if (const auto found = packages.find(file); found != packages.end())
      wanted.insert(debug_package(printable(found->second)));
  std::string text =
      fmt::format("{} {} symbols: ", fmt::join(files, ", "), files.size() == 1 ? "lacks" : "lack");
  if (!wanted.empty())
    return {text + fmt::format(
                       "install {}{}, or set DEBUGINFOD_URLS for post", fmt::join(wanted, ", "),
                       std::ranges::any_of(wanted, is_in_debug_archive)
                           ? " (-dbgsym packages: from the distribution's archive of debug symbols)"
                           : ""),
            fmt::format("install {}", fmt::join(wanted, ", "))};
  return {text +
              "name the directory of files with symbols, or of debug files, with post -sympath, or "
              "set DEBUGINFOD_URLS for post",
          fmt::format("{} lacks symbols", last_component(files.front()))};
}

Advice advice_on_kernel() {
  return {
      "the trace lacks symbols of the kernel: 'swtrace check' tells why they cannot be recorded, "
      "and "
      "post -kmap takes them from the System.map of that kernel",
      "no symbols of the kernel: see 'swtrace check'"};
}

Advice advice_on_refused(const std::string& file) {
  return {
      fmt::format("the line \"Symbols\" about {} has the reason; if the file was visible only to "
                  "its process, profile it while it runs (run.tprof -p PID), or name the "
                  "directory of its files with post -nv -sympath DIR, which does not check them",
                  printable(file)),
      fmt::format("no symbols of {}", printable(last_component(file)))};
}

}  // namespace

std::vector<std::string> files_without_names(const SampleTree& tree, const StringTable& names) {
  std::set<std::string> files;
  for (const Leaf& leaf : tree.leaves()) {
    const std::string& module =
        names.text(static_cast<NameId>(leaf.path[static_cast<size_t>(Level::module)]));
    if (leaf.ticks != 0 && has_no_symbol(leaf.found) && is_file(module)) files.insert(module);
  }
  return {files.begin(), files.end()};
}

namespace {

bool is_much(uint64_t ticks, const Program& program) {
  return ticks * 100 > program.ticks * percent_without_hint;
}

// What a program's names lack.
enum class Lack { nothing, names, callers, interpreted };

Lack lack_of(const Program& program) {
  const auto concerns = [&](uint64_t ticks) {
    return ticks >= few_ticks && is_much(ticks, program);
  };
  if (concerns(program.unnamed())) return Lack::names;
  const Runtime* runtime = runtime_of(program);
  if (!runtime) return Lack::nothing;
  if (concerns(program.callers.unnamed)) return Lack::callers;
  if (!runtime->interprets || !program.callers.known || program.callers.has_python)
    return Lack::nothing;
  for (const auto& [module, ticks] : program.modules)
    if (is_runtime(last_component(module), *runtime) && concerns(ticks)) return Lack::interpreted;
  return Lack::nothing;
}

std::vector<Hint> wanted_hints(const std::map<std::string, Program>& programs,
                               const std::set<std::string>& own) {
  std::vector<Hint> hints;
  for (const auto& [name, program] : programs)
    // Records about a program without a name were lost: it is not known what it ran.
    if (name != unnamed_process && lack_of(program) != Lack::nothing)
      hints.push_back({name, program.ticks, program.unnamed(), "", ""});
  std::ranges::sort(hints, [&own](const Hint& a, const Hint& b) {
    const bool a_is_own = own.contains(a.program), b_is_own = own.contains(b.program);
    if (a_is_own != b_is_own) return a_is_own;
    return a.unnamed != b.unnamed ? a.unnamed > b.unnamed : a.program < b.program;
  });
  if (hints.size() > max_hints) hints.resize(max_hints);
  return hints;
}

// The first is the most important one: that of a runtime, then of what has the most ticks.
std::vector<Advice> advice_on(const Program& program, const std::vector<std::string>& files,
                              const Packages& packages) {
  std::vector<Advice> advice;
  const Runtime* runtime = runtime_of(program);
  if (!runtime && is_much(program.generated, program)) runtime = &unknown_runtime;
  if (runtime) advice.push_back({std::string(runtime->advice), std::string(runtime->brief)});
  if (lack_of(program) != Lack::names) return advice;
  std::vector<std::pair<uint64_t, Advice>> by_ticks;
  if (!files.empty()) by_ticks.emplace_back(program.file_ticks(), advice_on_files(files, packages));
  if (is_much(program.refused_ticks(), program))
    by_ticks.emplace_back(program.refused_ticks(),
                          advice_on_refused(hottest_files(program.refused).front()));
  if (is_much(program.kernel, program)) by_ticks.emplace_back(program.kernel, advice_on_kernel());
  std::ranges::stable_sort(by_ticks,
                           [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [ticks, one] : by_ticks) advice.push_back(std::move(one));
  return advice;
}

void write_sentences(Hint& hint, const Program& program, const std::vector<Advice>& advice) {
  const std::string name = printable(hint.program);
  const auto share_of = [&](uint64_t ticks) {
    return fmt::format("{:.0f} %",
                       100.0 * static_cast<double>(ticks) / static_cast<double>(program.ticks));
  };
  std::string problem, brief;
  switch (lack_of(program)) {
    case Lack::nothing:
      return;
    case Lack::names:
      problem = fmt::format("{} of the ticks of {} have no name", share_of(hint.unnamed), name);
      brief = fmt::format("{} of {} has no name", share_of(hint.unnamed), name);
      break;
    case Lack::callers:
      problem = fmt::format("{} of the ticks of {} have callers without a name",
                            share_of(program.callers.unnamed), name);
      brief = fmt::format("{} of {} has callers without a name", share_of(program.callers.unnamed),
                          name);
      break;
    case Lack::interpreted:
      problem = fmt::format("The Python functions that {} executed are not shown", name);
      brief = fmt::format("{}'s Python functions are not shown", name);
      break;
  }
  std::vector<std::string> remedies;
  for (const Advice& one : advice) remedies.push_back(one.text);
  remedies.front().front() = static_cast<char>(std::toupper(remedies.front().front()));
  hint.text = fmt::format("{}. {}.", problem, fmt::join(remedies, "; "));
  hint.brief = fmt::format("{}: {} (see tprof.out).", brief, advice.front().brief);
}

}  // namespace

std::vector<Hint> make_hints(const SampleTree& tree, const StringTable& names,
                             const LabelOptions& labels, const std::vector<std::string>& notes,
                             const FindPackages& find_packages, const std::set<std::string>& own,
                             const CallTree* calls) {
  auto programs = count(tree, names, labels, notes);
  if (calls)
    for (const auto& [name, callers] : count_caller_names(*calls, labels))
      programs[name].callers = callers;
  std::vector<Hint> hints = wanted_hints(programs, own);
  std::map<std::string, std::vector<std::string>> files;  // by program
  std::set<std::string> paths;
  for (const Hint& hint : hints) {
    files[hint.program] = hottest_files(programs.at(hint.program).files);
    paths.insert(files[hint.program].begin(), files[hint.program].end());
  }
  const Packages packages =
      paths.empty() ? Packages() : find_packages({paths.begin(), paths.end()});
  for (Hint& hint : hints) {
    const Program& program = programs.at(hint.program);
    const auto advice = advice_on(program, files[hint.program], packages);
    if (!advice.empty()) write_sentences(hint, program, advice);
  }
  std::erase_if(hints, [](const Hint& hint) { return hint.text.empty(); });
  return hints;
}

}  // namespace post
