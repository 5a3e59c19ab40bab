// SPDX-License-Identifier: MIT
// Files that runtimes write about JIT-compiled code (log-jita2n, jitdump, perf-PID.map), valid and
// invalid ones.
#include <gmock/gmock.h>
#include <fcntl.h>
#include <pi/jit_log.h>
#include <pi/unique_fd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>

#include "a2n_fixture.h"

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JitFiles : public A2nTest {
 protected:
  JitFiles() { A2nCreateProcess(pid); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = temporary(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  int load(int form, const std::string& path) {
    return A2nLoadJittedMethods(pid, form, path.c_str(), nullptr);
  }
  int load_log(const std::string& text) {
    return load(A2N_JIT_LOG, write("log-jita2n_100", heading() + text));
  }
  static std::string heading(const std::string& more = "attached=start started=0 begun=0") {
    return std::string(pi::jit_log::title) + "\n" + pi::jit_log::encoding + "\n" +
           pi::jit_log::platform + "\n" + pi::jit_log::process + "100\n" +
           "# head version=1 agent=0.1 clock=CLOCK_MONOTONIC offset=0 pid=100 pidns=7 " + more +
           " jvm=test\n";
  }

  static Answer at(uint64_t address, uint64_t time) {
    SYMDATA data;
    const int rc = A2nGetSymbolAt(pid, address, time, &data);
    return {rc, data.sym_name ? data.sym_name : "(null)", data.mod_name ? data.mod_name : "(null)",
            data};
  }
  static std::vector<std::string> frames(uint64_t address, uint64_t time) {
    A2N_FRAME found[8];
    size_t count = 0;
    A2nGetFramesAt(pid, address, time, found, 8, &count);
    std::vector<std::string> text;
    for (size_t i = 0; i < std::min<size_t>(count, 8); ++i)
      text.push_back(std::string(found[i].name) + " " + (found[i].file ? found[i].file : "-") +
                     ":" + std::to_string(found[i].line));
    return text;
  }
};

TEST_F(JitFiles, ALogGivesTheOwnerOfAnAddressAtATime) {
  ASSERT_EQ(load_log("00000000 00000064 7f0000001000 100 0 demo/A.a([Ljava/lang/String;)V\n"
                     "# unload 00000000 000000c8 7f0000001000\n"
                     "00000001 00000000 7f0000001080 40 0 demo/B.b()I\n"
                     "00000000 00000010 7f0000000000 200 2 Interpreter\n"),
            A2N_SUCCESS)
      << A2nGetErrorText();
  const Answer first = at(0x7f0000001080, 199);
  EXPECT_EQ(first.rc, A2N_SUCCESS);
  EXPECT_EQ(first.module, "JITCODE");
  EXPECT_EQ(first.symbol, "demo/A.a([Ljava/lang/String;)V");
  EXPECT_EQ(first.data.sym_addr, 0x7f0000001000u);
  EXPECT_EQ(first.data.sym_length, 0x100u);
  EXPECT_EQ(first.data.flags & (A2N_FLAG_JITTED | A2N_FLAG_MMI), unsigned{A2N_FLAG_JITTED});
  EXPECT_EQ(at(0x7f0000001080, 200).symbol, "demo/B.b()I");
  EXPECT_EQ(at(0x7f0000001000, 200).module, "NoModule");
  EXPECT_EQ(at(0x7f0000000010, 5).module, "GENERATED_CODE");
  EXPECT_EQ(at(0x7f0000000010, 5).symbol, "Interpreter");
  EXPECT_EQ(A2nGetNextCodeChange(pid, 0), 200u);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(JitFiles, ALogGivesLinesAndInlinedFunctions) {
  ASSERT_EQ(load_log("00000000 00000064 7f0000001000 20 1 demo/A.a()V\n" + std::string(64, '9') +
                     "\n# method 1 A.java demo/A.a()V\n# method a B.java demo/B.b()V\n"
                     "# lines 1 0:10 5:11\n# lines a 0:20\n# lines a 8:21\n"
                     "# frames 0:1:2 0:1:7 2:a:9\n# frames 3:a:-\n"
                     "# ranges 4:1 8:3\n# ranges c:4\n"),
            A2N_SUCCESS);
  EXPECT_THAT(frames(0x7f0000001000, 0), ElementsAre("demo/A.a()V A.java:10"));
  EXPECT_THAT(frames(0x7f0000001004, 0),
              ElementsAre("demo/B.b()V B.java:21", "demo/A.a()V A.java:11"));
  EXPECT_THAT(
      frames(0x7f0000001008, 0),
      ElementsAre("demo/B.b()V B.java:0", "demo/B.b()V B.java:21", "demo/A.a()V A.java:11"));
  EXPECT_THAT(frames(0x7f000000100c, 0), ElementsAre("demo/A.a()V -:0"));
  EXPECT_THAT(frames(0x7f0000002000, 0), IsEmpty());
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(JitFiles, MethodIdsAreValidOnlyUntilTheNextHead) {
  ASSERT_EQ(load_log("# method 1 A.java demo/A.a()V\n# end 00000000 00000010 detach\n"
                     "# head version=1 clock=CLOCK_MONOTONIC pid=100 pidns=7 started=0 "
                     "begun=0000000000000040 attached=late\n"
                     "00000000 00000064 7f0000001000 20 4 demo/A.a()V\n# frames 0:1:0\n"),
            A2N_SUCCESS);
  EXPECT_THAT(frames(0x7f0000001000, 0x40), ElementsAre("demo/A.a()V -:0"));
  EXPECT_EQ(at(0x7f0000001000, 0x3f).module, "NoModule");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("1 lines (15 bytes) make no sense")));
}

TEST_F(JitFiles, BytesOfCodeInALogAreSkipped) {
  // The code of the second method is incomplete, that of the third one is invalid.
  ASSERT_EQ(load_log("00000000 00000001 1000 22 1 a\n" + std::string(64, '0') + "\n9090\n" +
                     "00000000 00000001 2000 22 1 b\n" + std::string(64, '0') + "\n" +
                     "00000000 00000001 3000 1 1 c\nxx\n"),
            A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 1).symbol, "a");
  EXPECT_EQ(at(0x2000, 1).symbol, "b");
  EXPECT_EQ(at(0x3000, 1).symbol, "c");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("1 lines (3 bytes) make no sense")));
  EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_ERROR);
  EXPECT_EQ(A2nGetNoteBytes(0), 3u);
}

TEST_F(JitFiles, BytesOfJittedCodeAreThoseOfTheLog) {
  const std::string log = "00000000 00000001 1000 22 1 a\n" + std::string(64, '0') + "\n90c3\n" +
                          "00000000 00000001 2000 22 1 b\n" + std::string(64, '0') + "\n";
  const unsigned char* code = nullptr;
  uint64_t start = 0;
  size_t length = 0;
  A2nSetCodeGatherMode(1);
  ASSERT_EQ(load_log(log), A2N_SUCCESS);
  ASSERT_EQ(A2nGetCodeAt(pid, 0x1010, 1, &code, &start, &length), A2N_SUCCESS);
  EXPECT_EQ(start, 0x1000u);
  ASSERT_EQ(length, 0x22u);
  EXPECT_EQ(code[0], 0);
  EXPECT_EQ(code[0x20], 0x90);
  EXPECT_EQ(code[0x21], 0xc3);
  EXPECT_EQ(A2nGetCodeAt(pid, 0x2000, 1, &code, &start, &length), A2N_NO_SYMBOL_FOUND);
}

TEST_F(JitFiles, AnIncompleteLastLineIsAWarning) {
  ASSERT_EQ(load_log("00000000 00000001 1000 20 0 a\n00000000 00000001 2000 20 0 b"), A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 1).symbol, "a");
  EXPECT_EQ(at(0x2000, 1).module, "NoModule");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("cut off; 29 bytes of it are not used")));
  EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_WARNING);
}

TEST_F(JitFiles, ALogInTheClassicFormatIsRead) {
  ASSERT_EQ(load(A2N_JIT_LOG, write("log",
                                    " JitA2N\n BINARY DATA IN PRINTABLE HEX\n AIX ppc64\n"
                                    " Process_Number_ID=100\n SeqNo 1\n"
                                    "00000000 00000001 1000 20 0 a\n")),
            A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 1).symbol, "a");
}

TEST_F(JitFiles, UnknownAdditionsAreSkipped) {
  ASSERT_EQ(load_log("# weather sunny\n00000000 00000001 1000 20 0 a\n"), A2N_SUCCESS);
  EXPECT_THAT(notes(), IsEmpty());
  EXPECT_EQ(at(0x1000, 1).symbol, "a");
}

TEST_F(JitFiles, RefusesALogOfAnotherProcess) {
  const auto refused = [&](const std::string& text) {
    EXPECT_EQ(load(A2N_JIT_LOG, write("log", text)), A2N_JITTED_ERROR) << text;
    return std::string(A2nGetErrorText());
  };
  EXPECT_THAT(refused(" JitA2N\n Process_Number_ID=101\n"), HasSubstr("of a process 101"));
  EXPECT_THAT(refused("hello\n"), HasSubstr("not a log-jita2n"));
  EXPECT_THAT(refused(""), HasSubstr("not a log-jita2n"));
  EXPECT_EQ(load(A2N_JIT_LOG, temporary("nowhere")), A2N_FILE_NOT_FOUND);
  EXPECT_EQ(load(A2N_JIT_LOG, "/dev/zero"), A2N_JITTED_ERROR);
  // A process with that id that was forked long after the log's process started.
  A2nSetTime(10'000'000'000);
  A2nForkProcess(1, pid);
  EXPECT_THAT(refused(heading("attached=start started=0000000000000064 begun=0")),
              HasSubstr("an earlier process"));
  EXPECT_EQ(load_log(""), A2N_SUCCESS) << "a start that is not known fits";
}

TEST_F(JitFiles, ALogFromAContainerMustHaveItsPidNamespace) {
  const std::string path = write("log-jita2n_100", heading() + "00000000 00000001 1000 20 0 a\n");
  A2nCreateProcess(5000);
  A2N_JIT_PROCESS inside{100, 8};
  EXPECT_EQ(A2nLoadJittedMethods(5000, A2N_JIT_LOG, path.c_str(), &inside), A2N_JITTED_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("pid namespace"));
  inside.pid_namespace = 7;
  EXPECT_EQ(A2nLoadJittedMethods(5000, A2N_JIT_LOG, path.c_str(), &inside), A2N_SUCCESS);
  SYMDATA data;
  EXPECT_EQ(A2nGetSymbolAt(5000, 0x1000, 1, &data), A2N_SUCCESS);
}

TEST_F(JitFiles, LostEventsAreNoted) {
  ASSERT_EQ(load_log("00000000 00000001 1000 20 0 a\n"
                     "# lost 3 00000000 00000064 00000000 000000c8\n"),
            A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 99).symbol, "a");
  EXPECT_EQ(at(0x1000, 100).module, "NoModule");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("could not write 3 events")));
}

TEST_F(JitFiles, AFileMappedLaterReplacesJittedCode) {
  ASSERT_EQ(load_log("00000000 00000064 1000 1000 0 a\n"), A2N_SUCCESS);
  A2nSetTime(50);
  A2nAddModule(pid, 0x1000, 0x1000, "//anon", A2N_STAMP_ANON, 0);
  EXPECT_EQ(at(0x1000, 60).symbol, "a");
  A2nSetTime(200);
  A2nAddModule(pid, 0x1000, 0x1000, "/nowhere/lib.so", 0, 0);
  EXPECT_EQ(at(0x1000, 199).symbol, "a");
  EXPECT_EQ(at(0x1000, 200).module, "/nowhere/lib.so");
}

TEST_F(JitFiles, AForkInheritsJittedCodeAndAnExecEndsIt) {
  ASSERT_EQ(load_log("00000000 00000064 1000 1000 0 a\n# unload 00000000 000003e8 1000\n"),
            A2N_SUCCESS);
  A2nSetTime(500);
  A2nForkProcess(pid, 101);
  SYMDATA data;
  EXPECT_EQ(A2nGetSymbolAt(101, 0x1000, 2000, &data), A2N_SUCCESS);
  EXPECT_STREQ(data.sym_name, "a");
  A2nSetTime(600);
  A2nExecProcess(pid);
  EXPECT_EQ(at(0x1000, 700).module, "NoModule");
  A2nExecProcess(101);
  EXPECT_EQ(A2nGetSymbolAt(101, 0x1000, 2000, &data), A2N_NO_MODULE);
}

TEST_F(JitFiles, APerfMapHasTheLowestPriority) {
  const std::string path =
      write("perf-100.map",
            "1000 100 old\n0x1080 0x10 b\nnonsense\n3000 0 empty\n5000 9 a name with blanks\n");
  ASSERT_EQ(load(A2N_JIT_PERF_MAP, path), A2N_SUCCESS) << A2nGetErrorText();
  EXPECT_EQ(at(0x1000, 0).module, "NoModule") << "a later entry overlaps it";
  EXPECT_EQ(at(0x1080, 7).symbol, "b");
  EXPECT_EQ(at(0x5000, 7).symbol, "a name with blanks");
  EXPECT_EQ(at(0x1080, 7).module, "JITCODE");
  EXPECT_NE(at(0x1080, 7).data.flags & A2N_FLAG_TIMELESS, 0u);
  A2nAddModule(pid, 0x1000, 0x1000, "/memfd:doublemapper (deleted)", 0, 0);
  EXPECT_EQ(at(0x1080, 7).symbol, "b");
  A2nAddModule(pid, 0x1000, 0x1000, "/nowhere/lib.so", 0, 0);
  EXPECT_EQ(at(0x1080, 7).module, "/nowhere/lib.so");
  EXPECT_THAT(notes(), Contains(HasSubstr("1 lines make no sense")));
  EXPECT_THAT(notes(), Contains(HasSubstr("1 of its 3 entries take the place")));
}

TEST_F(JitFiles, APerfMapIsNotUsedForALaterProcessWithTheSameId) {
  const std::string path = write("perf-100.map", "1000 100 of_the_first\n");
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  // The file was written at 10 s of the trace's clock.
  A2nSetFileClock(10'000'000'000 - facts.st_mtim.tv_sec * 1'000'000'000 - facts.st_mtim.tv_nsec);
  A2nSetTime(9'000'000'000);
  A2nForkProcess(1, pid);
  ASSERT_EQ(load(A2N_JIT_PERF_MAP, path), A2N_SUCCESS) << A2nGetErrorText();
  EXPECT_EQ(at(0x1000, 11'000'000'000).symbol, "of_the_first");
  A2nSetTime(12'000'000'000);
  A2nForkProcess(1, pid);
  EXPECT_EQ(at(0x1000, 13'000'000'000).module, "NoModule");
  EXPECT_EQ(at(0x1000, 11'000'000'000).symbol, "of_the_first");
}

TEST_F(JitFiles, OpensOnlyTrustedFiles) {
  const std::string map = write("perf-100.map", "1000 100 a\n");
  const std::string link = temporary("link");
  ASSERT_EQ(::symlink(map.c_str(), link.c_str()), 0);
  EXPECT_EQ(load(A2N_JIT_PERF_MAP, link), A2N_JITTED_ERROR);
  const std::string pipe = temporary("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(load(A2N_JIT_PERF_MAP, pipe), A2N_JITTED_ERROR);
  ASSERT_EQ(::chmod(map.c_str(), 0666), 0);
  EXPECT_EQ(load(A2N_JIT_PERF_MAP, map), A2N_JITTED_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("users other than its owner"));
  ASSERT_EQ(::chmod(map.c_str(), 0644), 0);
  EXPECT_EQ(load(A2N_JIT_PERF_MAP, map), A2N_SUCCESS);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(map.c_str(), 12345, 12345), 0);
  EXPECT_EQ(load(A2N_JIT_PERF_MAP, map), A2N_JITTED_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("belongs to user 12345"));
}

// The process that has the id now may be another one than the traced one.
TEST_F(JitFiles, AFileOfTheProcesssUserIsUsedOnlyWhileTheTracedProcessRuns) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(12345) == 0)
      for (;;) ::pause();
    ::_exit(1);
  }
  const std::string map = write("perf-child.map", "1000 100 a\n");
  ASSERT_EQ(::chown(map.c_str(), 12345, 12345), 0);
  const auto load_of_child = [&](uint64_t seen) {
    A2nInit();
    A2nSetTime(seen);
    A2nCreateProcess(static_cast<uint32_t>(child));
    return A2nLoadJittedMethods(static_cast<uint32_t>(child), A2N_JIT_PERF_MAP, map.c_str(),
                                nullptr);
  };
  struct stat status {};
  const std::string directory = "/proc/" + std::to_string(child);
  do {
    ASSERT_EQ(::stat(directory.c_str(), &status), 0);
  } while (status.st_uid != 12345);
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  EXPECT_EQ(load_of_child(static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
                          static_cast<uint64_t>(now.tv_nsec)),
            A2N_SUCCESS);
  EXPECT_EQ(load_of_child(1'000'000'000), A2N_JITTED_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("a process that still runs"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// Builds a jitdump file.
class Dump {
 public:
  explicit Dump(uint64_t flags = 0, uint32_t version = 1, uint32_t machine = 62) {
    add<uint32_t>(0x4a695444, version, 40, machine, 0, 100);
    add<uint64_t>(1, flags);
  }
  Dump& load(uint64_t time, uint64_t address, const std::string& name, const std::string& code) {
    const auto size = static_cast<uint32_t>(16 + 8 + 32 + name.size() + 1 + code.size());
    record(0, size, time);
    add<uint32_t>(100, 100);
    add<uint64_t>(address, address, code.size(), number_++);
    text(name);
    bytes_ += code;
    return *this;
  }
  Dump& move(uint64_t time, uint64_t from, uint64_t to, uint64_t size) {
    record(1, 16 + 8 + 40, time);
    add<uint32_t>(100, 100);
    add<uint64_t>(to, from, to, size, 0);
    return *this;
  }
  Dump& lines(uint64_t address) {
    record(2, 16 + 16 + 2 * 16 + 5 + 2, 0);
    add<uint64_t>(address, 2, address);
    add<uint32_t>(7, 0);
    text("a.js");
    add<uint64_t>(address + 2);
    add<uint32_t>(9, 0);
    text("\xff");
    return *this;
  }
  Dump& record(uint32_t kind, uint32_t size, uint64_t time) {
    add<uint32_t>(kind, size);
    add<uint64_t>(time);
    return *this;
  }
  Dump& raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  std::string bytes() const { return bytes_; }

 private:
  template <class Number, class... Values>
  void add(Values... values) {
    for (const Number value : {static_cast<Number>(values)...})
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value) { bytes_ += value + '\0'; }

  std::string bytes_;
  uint64_t number_ = 0;
};

TEST_F(JitFiles, ADumpGivesLoadsMovesAndLines) {
  Dump dump;
  dump.lines(0x1000).load(10, 0x1000, "a", "1234").load(10, 0x2000, "b", "12345678");
  dump.record(4, 16 + 8, 20).raw("unwindin").move(50, 0x2000, 0x3000, 8);
  dump.load(70, 0x1002, "c", "12");
  ASSERT_EQ(load(A2N_JIT_DUMP, write("jit-100.dump", dump.bytes())), A2N_SUCCESS)
      << A2nGetErrorText();
  EXPECT_THAT(frames(0x1000, 60), ElementsAre("a a.js:7"));
  EXPECT_THAT(frames(0x1003, 60), ElementsAre("a a.js:9"));
  EXPECT_EQ(at(0x2007, 49).symbol, "b");
  EXPECT_EQ(at(0x2007, 50).module, "NoModule");
  EXPECT_EQ(at(0x3007, 50).symbol, "b");
  EXPECT_EQ(at(0x1002, 69).symbol, "a");
  EXPECT_EQ(at(0x1002, 70).symbol, "c");
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(JitFiles, ADumpIsNotReadThroughALinkInItsPath) {
  Dump dump;
  dump.load(10, 0x1000, "a", "1234");
  const std::string file = write("jit-100.dump", dump.bytes());
  const std::string directory = temporary("directory");
  ASSERT_EQ(::symlink(".", directory.c_str()), 0);
  EXPECT_EQ(load(A2N_JIT_DUMP, directory + "/jit-100.dump"), A2N_JITTED_ERROR);
  EXPECT_EQ(load(A2N_JIT_DUMP, file), A2N_SUCCESS);
}

TEST_F(JitFiles, ADumpEndsAtACloseRecordOrTruncation) {
  Dump closed;
  closed.load(10, 0x1000, "a", "1234").record(3, 16, 20).load(30, 0x2000, "b", "1234");
  ASSERT_EQ(load(A2N_JIT_DUMP, write("jit-100.dump", closed.bytes())), A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 60).symbol, "a");
  EXPECT_EQ(at(0x2000, 60).module, "NoModule");
  EXPECT_THAT(notes(), IsEmpty());
  const std::string whole = Dump().load(10, 0x5000, "x", "1234").bytes();
  for (size_t size = 40; size < whole.size(); ++size) {
    ASSERT_EQ(load(A2N_JIT_DUMP, write("jit-100.dump", whole.substr(0, size))), A2N_SUCCESS);
    EXPECT_EQ(at(0x5000, 60).module, "NoModule");
  }
  EXPECT_EQ(notes().size(), whole.size() - 41) << "one note for each number of bytes";
}

TEST_F(JitFiles, RefusesInvalidDumps) {
  const auto refused = [&](const std::string& bytes) {
    EXPECT_EQ(load(A2N_JIT_DUMP, write("jit-100.dump", bytes)), A2N_JITTED_ERROR);
    return std::string(A2nGetErrorText());
  };
  EXPECT_THAT(refused("short"), HasSubstr("not a jitdump"));
  EXPECT_THAT(refused(std::string(40, 'x')), HasSubstr("not a jitdump"));
  EXPECT_THAT(refused(Dump(0, 2).bytes()), HasSubstr("version 2"));
  EXPECT_THAT(refused(Dump(0, 1, 183).bytes()), HasSubstr("another kind of machine"));
  std::string swapped = Dump().bytes();
  std::swap(swapped[0], swapped[3]);
  std::swap(swapped[1], swapped[2]);
  EXPECT_THAT(refused(swapped), HasSubstr("order of bytes"));
}

TEST_F(JitFiles, TimesOfADumpWithTheProcessorsClockAreIgnored) {
  const std::string path = write("jit-100.dump", Dump(1).load(1000, 0x1000, "a", "1234").bytes());
  ASSERT_EQ(load(A2N_JIT_DUMP, path), A2N_SUCCESS);
  EXPECT_NE(at(0x1000, 1).data.flags & A2N_FLAG_TIMELESS, 0u);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("cannot be compared")));
}

TEST_F(JitFiles, SkipsInvalidRecords) {
  Dump dump;
  dump.record(0, 20, 1).raw("1234").record(2, 32, 1).raw(std::string(8, '\0') +
                                                         std::string(8, '\x7f'));
  dump.load(10, 0x1000, "a", "1234").record(0, 3, 20).load(30, 0x2000, "b", "1234");
  ASSERT_EQ(load(A2N_JIT_DUMP, write("jit-100.dump", dump.bytes())), A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 60).symbol, "a");
  EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr("length makes no sense"), HasSubstr("78 bytes")),
                                   HasSubstr("2 records (52 bytes) make no sense")));
  EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_ERROR);
  EXPECT_EQ(A2nGetNoteBytes(0), 78u);
  EXPECT_EQ(A2nGetNoteLevel(1), A2N_MESSAGES_ERROR);
  EXPECT_EQ(A2nGetNoteBytes(1), 52u);
}

// The runtime was killed, or the disk was full.
TEST_F(JitFiles, TruncationIsNotedWithItsBytes) {
  const std::string code(9000, '\x90');
  const std::string whole =
      Dump().load(10, 0x1000, "a", "1234").load(20, 0x2000, "b", code).bytes();
  const std::string cut = write("jit-100.dump", whole.substr(0, whole.size() - 5000));
  ASSERT_EQ(load(A2N_JIT_DUMP, cut), A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 60).symbol, "a");
  const size_t record = 16 + 40 + 2 + code.size();
  EXPECT_THAT(notes(),
              ElementsAre(AllOf(HasSubstr(cut + ": it is cut off in a record of " +
                                          std::to_string(record) + " bytes"),
                                HasSubstr(std::to_string(record - 5000) + " bytes are not used"))));
  EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_WARNING);
  A2nInit();
  A2nCreateProcess(pid);
  const std::string log = write("log-jita2n_100", " JitA2N\n00000000 0000000a 1000 100 0 a\n0000");
  ASSERT_EQ(load(A2N_JIT_LOG, log), A2N_SUCCESS) << A2nGetErrorText();
  EXPECT_THAT(notes(), ElementsAre(log + ": the last line is cut off; 4 bytes of it are not used"));
  EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_WARNING);
}

TEST_F(JitFiles, AnOpenFileIsReadFromItsBeginningWithoutChecks) {
  const std::string map = write("perf-100.map", "1000 100 a\n");
  ASSERT_EQ(::chmod(map.c_str(), 0666), 0);
  const pi::UniqueFd fd(::open(map.c_str(), O_RDONLY | O_CLOEXEC));
  ::lseek(fd.get(), 0, SEEK_END);
  EXPECT_EQ(A2nLoadJittedMethodsFrom(pid, A2N_JIT_PERF_MAP, fd.get(), "map", nullptr), A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 1).symbol, "a");
  EXPECT_EQ(A2nLoadJittedMethodsFrom(pid, A2N_JIT_LOG, fd.get(), "map", nullptr), A2N_JITTED_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr("map: it is not a log-jita2n"));
  EXPECT_EQ(A2nLoadJittedMethodsFrom(pid, A2N_JIT_LOG, -1, "map", nullptr), A2N_INVALID_ARGUMENT);
}

TEST_F(JitFiles, MethodsCanBeAddedOneByOne) {
  const A2N_METHOD_LINE lines[] = {{0, 10}, {4, 12}};
  A2nSetTime(100);
  EXPECT_EQ(A2nAddJittedMethod(pid, "old", 0x1000, 0x100, nullptr), A2N_SUCCESS);
  EXPECT_EQ(A2nAddMMIMethod(pid, "stub", 0x3000, 0x100), A2N_SUCCESS);
  A2nSetTime(200);
  EXPECT_EQ(A2nRemoveJittedMethod(pid, 0x1000), A2N_SUCCESS);
  A2nSetTime(300);
  const char code[8] = {};
  EXPECT_EQ(A2nAddJittedMethodEx(pid, "new", 0x1000, 8, code, A2N_LINES_JVMTI, 2, lines),
            A2N_SUCCESS);
  EXPECT_EQ(at(0x1000, 199).symbol, "old");
  EXPECT_EQ(at(0x1000, 200).symbol, "new");
  EXPECT_THAT(frames(0x1005, 300), ElementsAre("new -:12"));
  EXPECT_EQ(at(0x3000, 0).module, "GENERATED_CODE");
  A2nSetCollapseMMIRange("VM");
  EXPECT_EQ(at(0x3000, 0).symbol, "VM");
  A2nSetJittedTimesMode(0);
  EXPECT_EQ(at(0x1000, 100).symbol, "new");
  EXPECT_EQ(A2nAddJittedMethod(pid, "", 1, 1, nullptr), A2N_METHOD_NAME_ERROR);
  EXPECT_EQ(A2nAddJittedMethod(pid, "a", 1, 0, nullptr), A2N_METHOD_LENGTH_ERROR);
  EXPECT_EQ(A2nAddJittedMethod(4711, "a", 1, 1, nullptr), A2N_NO_PROCESS);
  EXPECT_EQ(A2nRemoveJittedMethod(4711, 1), A2N_NO_PROCESS);
  EXPECT_EQ(A2nAddJittedMethodEx(pid, "a", 1, 1, nullptr, 1, 2, lines), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nLoadJittedMethods(pid, 4, "x", nullptr), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nLoadJittedMethods(pid, A2N_JIT_LOG, "", nullptr), A2N_INVALID_ARGUMENT);
}

}  // namespace
