// SPDX-License-Identifier: MIT
// Drives swtrace through a random schedule while a process on every CPU writes numbered records,
// and accounts for each record in every file. The schedule follows from the seed; each step is
// printed before it is executed.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include "check_schedule.h"
#include "schedule_writers.h"

extern char** environ;

namespace schedule {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

constexpr const char* mode_names[] = {"norm", "wrap", "cont"};

struct Options {
  uint64_t seed = 0;
  std::string source, mode;
  unsigned steps = 0;
  fs::path directory;
  bool hotplug = false;
};

// Ends the run; the message is the reason.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Totals {
  uint64_t files = 0, kept = 0, missing = 0, lost_records = 0, lost = 0, overwritten = 0,
           unwritten = 0;
};

struct Outcome {
  int status;
  std::string output;
};

// Runs swtrace; returns its output and exit status.
Outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), "swtrace");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Failure("no pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid;
  const int error = ::posix_spawnp(&pid, "swtrace", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) throw Failure(fmt::format("swtrace cannot be run: {}", std::strerror(error)));
  Outcome outcome;
  std::array<char, 4096> block;
  for (ssize_t got; (got = ::read(ends[0], block.data(), block.size())) > 0;)
    outcome.output.append(block.data(), static_cast<size_t>(got));
  ::close(ends[0]);
  ::waitpid(pid, &outcome.status, 0);
  outcome.status = WIFEXITED(outcome.status) ? WEXITSTATUS(outcome.status) : -1;
  return outcome;
}

// Returns whether a killed process has ended with all its threads, or is a zombie of another
// parent.
bool is_dead(pid_t pid) {
  std::error_code gone;
  const fs::directory_iterator threads(fmt::format("/proc/{}/task", pid), gone);
  if (!gone && std::distance(begin(threads), end(threads)) > 1) return false;
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(in, text);
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos || text[name_end + 2] == 'Z' || text[name_end + 2] == 'X';
}

class Schedule {
 public:
  explicit Schedule(const Options& options)
      : options_(options),
        disk_(options.directory / "disk"),
        file_(disk_ / "trace.nrm2"),
        random_(options.seed),
        writers_(static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN))),
        from_(writers_.count()) {
    parked_ = one_in(3) != 0;
    fs::create_directories(disk_);
    mounted_ = ::mount("none", disk_.c_str(), "tmpfs", 0, "size=64m") == 0;
    fmt::print("seed {} source {} mode {} steps {}: {} writers, {}, {}\n", options.seed,
               options.source, options.mode, options.steps, writers_.count(),
               parked_ ? "held during every change" : "never held",
               mounted_ ? "small disk" : "no small disk (needs root)");
  }

  ~Schedule() {
    if (initialised_) (void)run({"free"});
    for (const unsigned cpu : offline_) (void)write_online(cpu, true);
    if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
  }

  void run_all() {
    for (step_ = 1; step_ <= options_.steps; ++step_) one_step();
    if (on_) turn_off();
    if (initialised_) free_trace();
    for (int mode = 0; mode < 3; ++mode) {
      const Totals& sum = totals_[mode];
      fmt::print(
          "{}: {} files, {} records kept, {} missing, {} LOST records; {} lost, "
          "{} overwritten, {} unwritten\n",
          mode_names[mode], sum.files, sum.kept, sum.missing, sum.lost_records, sum.lost,
          sum.overwritten, sum.unwritten);
    }
  }

 private:
  uint64_t pick(uint64_t least, uint64_t most) {
    // Not std::uniform_int_distribution: a seed must give the same schedule with every library.
    return least + random_() % (most - least + 1);
  }
  uint64_t one_in(uint64_t n) { return random_() % n; }

  template <class... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    fmt::print("step {}: {}\n", step_, fmt::format(text, std::forward<Args>(args)...));
    std::fflush(stdout);
  }

  // ---- commands ----

  void expect(const std::vector<std::string>& words, int status = 0) {
    const Outcome outcome = run(words);
    if (outcome.status != status)
      throw Failure(fmt::format("swtrace {}: exit status {}, expected {}: {}", words[0],
                                outcome.status, status, outcome.output));
  }

  nlohmann::json info() {
    const Outcome outcome = run({"info", "--json"});
    const auto json = nlohmann::json::parse(outcome.output, nullptr, false);
    if (outcome.status != 0 || json.is_discarded() || json["trace"].is_null())
      throw Failure(
          fmt::format("swtrace info --json: exit status {}: {}", outcome.status, outcome.output));
    return json["trace"];
  }

  // Changes the recording state. If writers are held, they are between two records; otherwise the
  // records written meanwhile are unsure.
  void change(Recording recording, const std::function<void()>& work) {
    if (parked_)
      for (unsigned writer = 0; writer < writers_.count(); ++writer) writers_.hold(writer);
    else
      writers_.set_recording(unsure);
    work();
    writers_.set_recording(recording);
    release_all();
  }

  void release_all() {
    for (unsigned writer = 0; writer < writers_.count(); ++writer)
      if (offline_.count(writer) == 0) writers_.release(writer);
  }

  Recording as_now() const { return on_ && !suspended_ ? recorded : not_recorded; }

  // Records from here on belong to the next file.
  void begin_window() {
    for (unsigned writer = 0; writer < writers_.count(); ++writer)
      from_[writer] = writers_.log(writer).count;
  }

  void let_them_write() {
    // At most a million records a second on each CPU.
    const auto burst = static_cast<uint32_t>(1u << pick(0, 9));
    writers_.set_pace(burst, static_cast<uint32_t>(pick(burst, 4000)));
    ::usleep(static_cast<useconds_t>(pick(2000, 80000)));
    writers_.check();
  }

  // ---- steps ----

  void one_step() {
    if (!initialised_) return init_trace();
    if (!on_) {
      switch (one_in(6)) {
        case 0:
          return free_trace();
        case 1:
          return plug();
        default:
          return turn_on();
      }
    }
    let_them_write();
    const uint64_t chance = one_in(100);
    if (chance < 18) return suspended_ ? resume() : suspend();
    if (chance < 36) return suspended_ ? resume() : take_snapshot();
    if (chance < 46) return discard();
    if (chance < 62) return turn_off();
    if (chance < 67) return kill_recorder();
    if (chance < 77) return fill_disk();
    if (chance < 92) return plug();
  }

  void init_trace() {
    mode_ = first_mode();
    if (inits_++ != 0 && one_in(3) == 0) mode_ = static_cast<Mode>(pick(0, 2));
    const uint64_t trace_kb = 64u << pick(0, 4), names_kb = 1024u << pick(0, 2);
    names_ = one_in(2) == 0;
    ticks_ = one_in(4) == 0;
    std::vector<std::string> words{"init",
                                   "--source",
                                   options_.source,
                                   "-t",
                                   name_of_mode(),
                                   "-s",
                                   fmt::format("{}K", trace_kb),
                                   "-sm",
                                   fmt::format("{}K", names_kb)};
    uint64_t section_kb = 0;
    if (mode_ != Mode::normal) {
      section_kb = 4u << pick(0, 3);
      for (const auto& word :
           {std::string("-f"), file_.string(), std::string("-ss"), fmt::format("{}", section_kb)})
        words.push_back(word);
    }
    const uint64_t rate = pick(50, 4000);
    say("init {}, {} KB, names {} KB, sections {} KB{}{}", name_of_mode(), trace_kb, names_kb,
        section_kb, names_ ? ", names" : "", ticks_ ? fmt::format(", {} ticks", rate) : "");
    expect(words);
    initialised_ = true;
    expect({"enable", fmt::format("{}", hook_major)});
    if (names_) expect({"enable", "25"});
    if (ticks_) expect({"enable", "16"});
    expect({"setrate", fmt::format("{}", rate)});
  }

  void free_trace() {
    say("free");
    change(not_recorded, [&] { expect({"free"}); });
    initialised_ = false;
    remove_files();
  }

  void turn_on() {
    say("on");
    remove_files();
    change(recorded, [&] {
      begin_window();
      expect({"on"});
    });
    on_ = true;
    suspended_ = false;
  }

  void suspend() {
    say("suspend");
    change(not_recorded, [&] { expect({"suspend"}); });
    suspended_ = true;
  }

  void resume() {
    say("resume");
    change(recorded, [&] { expect({"resume"}); });
    suspended_ = false;
  }

  // Refused when a buffer was full, and when there is no space to rewrite the file.
  void discard() {
    say("discard");
    change(as_now(), [&] {
      const std::vector<uint64_t> before = from_;
      begin_window();
      const Outcome outcome = run({"discard"});
      if (outcome.status == 0) return;
      from_ = before;
      const bool full = outcome.output.find("became full") != std::string::npos;
      const bool no_room = outcome.output.find("No space left") != std::string::npos;
      if (!(full && mode_ == Mode::normal) && !(no_room && disk_full_))
        throw Failure("discard: " + outcome.output);
      say("was refused: {}", full ? "full" : "no space");
    });
  }

  void turn_off() {
    say("off");
    bool described = true;
    change(not_recorded, [&] {
      const Outcome outcome = run({"off"});
      if (outcome.status != 0 && !disk_full_) throw Failure("off: " + outcome.output);
      // swtrace reports a file with missing records.
      described =
          outcome.status == 0 || outcome.output.find("is not complete") != std::string::npos;
      if (!described) say("cannot end the file: {}", outcome.output);
    });
    on_ = suspended_ = false;
    const auto now = info();
    const fs::path file = disk_ / "got.nrm2";
    if (mode_ != Mode::continuous) {
      if (disk_full_) {
        expect({"get", file}, 1);
        empty_disk();
      }
      expect({"get", file});
      described = true;
    }
    empty_disk();
    const Findings found = check(mode_ == Mode::continuous ? file_ : file, described);
    check_info(now, found, described);
  }

  // The recorder's counts must equal the file's.
  void check_info(const nlohmann::json& now, const Findings& found, bool described) {
    uint64_t lost[2] = {0, 0};
    const char* kinds[2] = {"trace", "mte"};
    for (int kind = 0; kind < 2; ++kind) {
      const auto& counts = now[kinds[kind]];
      for (const auto& reason : counts["lost"]) lost[kind] += reason.get<uint64_t>();
      if (counts["produced"] != counts["written"].get<uint64_t>() + lost[kind])
        throw Failure(
            fmt::format("info: {} produced is not written + lost: {}", kinds[kind], counts.dump()));
    }
    if (described && (now["trace"]["produced"] != found.produced || lost[0] != found.lost))
      throw Failure(fmt::format("info: {} differs from the file: produced {}, lost {}",
                                now["trace"].dump(), found.produced, found.lost));
  }

  void take_snapshot() {
    if (mode_ != Mode::wrap || disk_full_) return;
    say("get");
    const fs::path file = disk_ / "snapshot.nrm2";
    change(as_now(), [&] {
      expect({"get", file});
      (void)check(file, true);
    });
    fs::remove(file);
  }

  // Writers are not held: the recorder may be killed at any time.
  void kill_recorder() {
    say("kill -9");
    const auto recorder = info()["recorder"].get<pid_t>();
    writers_.set_recording(unsure);
    if (::kill(recorder, SIGKILL) != 0) throw Failure("the recorder cannot be killed");
    for (int tries = 0; !is_dead(recorder); ++tries) {
      if (tries == 10000) throw Failure("the recorder does not end");
      ::usleep(1000);
    }
    writers_.set_recording(not_recorded);
    initialised_ = on_ = suspended_ = false;
    empty_disk();
    if (mode_ == Mode::continuous) (void)check(file_, false);
    if (mode_ == Mode::wrap) (void)check(file_.string() + ".mte", false);
    remove_files();
  }

  void fill_disk() {
    if (!mounted_) return;
    if (disk_full_) return empty_disk();
    say("disk full");
    const int fd = ::open(ballast().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) throw Failure("the small disk cannot be filled");
    off_t end = 0;
    for (off_t block = 1 << 20; block >= 4096; block /= 16)
      while (::fallocate(fd, 0, end, block) == 0) end += block;
    ::close(fd);
    disk_full_ = true;
    let_them_write();
    // In half of the cases the disk stays full until off. The recorder retries after a second.
    if (one_in(2) == 0) return;
    let_them_write();
    empty_disk();
    ::usleep(1100000);
  }

  void empty_disk() {
    if (!disk_full_) return;
    say("disk empty");
    fs::remove(ballast());
    disk_full_ = false;
  }

  fs::path ballast() const { return disk_ / "ballast"; }

  static bool write_online(unsigned cpu, bool online) {
    std::ofstream out(fmt::format("/sys/devices/system/cpu/cpu{}/online", cpu));
    out << (online ? 1 : 0) << std::flush;
    return out.good();
  }

  // A writer is held while its CPU is offline.
  void plug() {
    if (!options_.hotplug || writers_.count() < 2) return;
    const auto cpu = static_cast<unsigned>(pick(1, writers_.count() - 1));
    const bool online = offline_.count(cpu) != 0;
    say("CPU {} {}", cpu, online ? "online" : "offline");
    if (!online) {
      writers_.hold(cpu);
      offline_.insert(cpu);
    }
    if (!write_online(cpu, online)) throw Failure("the CPU cannot be switched on or off");
    if (!online) return;
    offline_.erase(cpu);
    writers_.release(cpu);
  }

  // ---- files ----

  Mode first_mode() const {
    return static_cast<Mode>(std::find(mode_names, mode_names + 3, options_.mode) - mode_names);
  }
  std::string name_of_mode() const { return mode_names[static_cast<int>(mode_)]; }

  void remove_files() {
    empty_disk();
    for (const auto& entry : fs::directory_iterator(disk_)) fs::remove(entry.path());
  }

  Findings check(const fs::path& file, bool ended) {
    Expected expected{mode_, options_.source == "driver", !ticks_, ended, {}};
    for (unsigned writer = 0; writer < writers_.count(); ++writer)
      expected.writers.push_back(
          {&writers_.log(writer), from_[writer], writers_.log(writer).count});
    const Findings found = check_file(file, expected);
    Totals& sum = totals_[static_cast<int>(mode_)];
    ++sum.files;
    sum.kept += found.kept;
    sum.missing += found.missing;
    sum.lost_records += found.lost_records;
    sum.lost += found.lost;
    sum.overwritten += found.overwritten;
    sum.unwritten += found.unwritten;
    say("checked: {} kept, {} missing, {} LOST records; produced {}, lost {}, overwritten {}, "
        "unwritten {}",
        found.kept, found.missing, found.lost_records, found.produced, found.lost,
        found.overwritten, found.unwritten);
    if (found.problems.empty()) return found;
    const fs::path bad = options_.directory / fmt::format("bad-{}.nrm2", options_.seed);
    fs::copy_file(file, bad, fs::copy_options::overwrite_existing);
    std::string text = fmt::format("{} is wrong:", bad.string());
    for (const auto& problem : found.problems) text += "\n  " + problem;
    throw Failure(text);
  }

  const Options options_;
  const fs::path disk_, file_;
  std::mt19937_64 random_;
  Writers writers_;
  std::vector<uint64_t> from_;
  Mode mode_ = Mode::normal;
  unsigned step_ = 0, inits_ = 0;
  bool parked_, mounted_ = false;
  bool initialised_ = false, on_ = false, suspended_ = false;
  bool names_ = false, ticks_ = false, disk_full_ = false;
  std::set<unsigned> offline_;
  Totals totals_[3];
};

bool parse(int argc, char** argv, Options& options) {
  po::options_description table("Usage: schedule OPTION... (PITRACE_SOCKET must be set)");
  std::string directory;
  table.add_options()("help", "this text")("seed", po::value(&options.seed)->required(),
                                           "the schedule")(
      "source", po::value(&options.source)->required(), "driver or perf")(
      "mode", po::value(&options.mode)->required(), "norm, wrap or cont: the most frequent mode")(
      "steps", po::value(&options.steps)->default_value(60), "number of steps")(
      "dir", po::value(&directory)->default_value("."),
      "directory of the files; a wrong file is kept there")(
      "hotplug", po::bool_switch(&options.hotplug), "takes CPUs of this machine offline");
  try {
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, table), values);
    if (values.count("help") != 0) {
      fmt::print("{}\n", fmt::streamed(table));
      return false;
    }
    po::notify(values);
  } catch (const po::error& error) {
    fmt::print(stderr, "schedule: {}\n{}\n", error.what(), fmt::streamed(table));
    return false;
  }
  options.directory = fs::absolute(directory);
  const bool known = std::find(mode_names, mode_names + 3, options.mode) != mode_names + 3;
  if (!known || std::getenv("PITRACE_SOCKET") == nullptr)
    fmt::print(stderr, "schedule: unknown mode, or PITRACE_SOCKET is not set\n");
  return known && std::getenv("PITRACE_SOCKET") != nullptr;
}

}  // namespace
}  // namespace schedule

int main(int argc, char** argv) {
  schedule::Options options;
  if (!schedule::parse(argc, argv, options)) return 255;
  try {
    schedule::Schedule(options).run_all();
    return 0;
  } catch (const std::exception& error) {
    fmt::print("seed {}: {}\n", options.seed, error.what());
    return 1;
  }
}
