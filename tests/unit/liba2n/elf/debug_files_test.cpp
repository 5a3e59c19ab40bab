// SPDX-License-Identifier: MIT
// Separate debug files, MiniDebugInfo, search paths, and files that differ from the traced ones.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "a2n_fixture.h"
#include "constants.h"
#include "rooted_process.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using truth::fixture;

using test::bias;
constexpr char id[] = "0123456789abcdef0123456789abcdef01234567";

class DebugFiles : public A2nTest {
 protected:
  // Expects the symbols of full in a library with the same code, also its local functions, whose
  // names are only in debug information.
  static void expect_local_functions(const std::string& full) {
    expect_functions(truth::functions(fixture(full)), bias);
    const uint64_t value = truth::value_of(truth::functions(fixture(full)), "local_helper");
    EXPECT_EQ(name_at(value + bias), "local_helper");
    EXPECT_EQ(ask(value + bias).data.flags, static_cast<uint32_t>(A2N_FLAG_MODULE_64));
  }
  static uint64_t address_of(const std::string& name) {
    return truth::value_of(truth::functions(fixture("libfull.so")), name) + bias;
  }
};

TEST_F(DebugFiles, MiniDebugInfoIsMergedWithTheExports) {
  map(fixture("libmini.so"), bias);
  expect_local_functions("libnoid.so");
}

TEST_F(DebugFiles, DebugLinkIsFollowedInTheModulesDirectory) {
  map(fixture("linked/liblinked.so"), bias);
  expect_local_functions("libnoid.so");
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(DebugFiles, DebugLinkIsFollowedIntoDotDebug) {
  map(fixture("dot/liblinked.so"), bias);
  expect_local_functions("libnoid.so");
}

TEST_F(DebugFiles, ADebugLinkWithAnotherChecksumIsRefusedWithANote) {
  map(fixture("damaged/liblinked.so"), bias);
  const uint64_t local = truth::value_of(truth::functions(fixture("libnoid.so")), "local_helper");
  EXPECT_EQ(ask(local + bias).rc, A2N_NO_SYMBOL_FOUND);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("damaged/liblinked.so.debug: its checksum")));
}

TEST_F(DebugFiles, TheDebugFileIsFoundByBuildIdInTheSearchPath) {
  A2nSetSymbolSearchPath((fixture("gone") + ":" + fixture("debugroot")).c_str());
  map(fixture("libid.so"), bias);
  expect_local_functions("libfull.so");
}

TEST_F(DebugFiles, TheDebugFileOfARemovedLibraryIsFoundByTheTracedBuildId) {
  A2nSetSymbolSearchPath(fixture("debugroot").c_str());
  const std::string gone = fixture("gone/libid.so");
  A2nSetModuleBuildId(gone.c_str(), id);
  map(fixture("libid.so"), bias, gone);
  expect_local_functions("libfull.so");
  EXPECT_EQ(ask(address_of("local_helper")).module, gone);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(DebugFiles, TheDebugFileOfAChangedLibraryIsFoundByTheTracedBuildId) {
  A2nSetSymbolSearchPath(fixture("debugroot").c_str());
  A2nSetModuleBuildId(fixture("libother.so").c_str(), id);
  map(fixture("libid.so"), bias, fixture("libother.so"));
  expect_local_functions("libfull.so");
}

TEST_F(DebugFiles, AnAddressHasThatOfTheFilesSymbolTable) {
  for (const auto& [name, moved] : {std::pair("pie", bias), std::pair("fixed", uint64_t{0})}) {
    A2nInit();
    map(fixture(name), moved);
    const uint64_t value = truth::value_of(truth::functions(fixture(name)), "plain_function");
    uint64_t in_file = 0;
    EXPECT_EQ(A2nGetFileAddressAt(pid, value + moved, 0, &in_file), A2N_SUCCESS) << name;
    EXPECT_EQ(in_file, value) << name;
    EXPECT_EQ(A2nGetFileAddressAt(pid, 0x10, 0, &in_file), A2N_NO_MODULE) << name;
    EXPECT_EQ(A2nGetFileAddressAt(pid, value + moved, 0, nullptr), A2N_NULL_SYMDATA) << name;
  }
}

TEST_F(DebugFiles, AFileThatNoProcessHasMappedHasTheSymbolsOfItsDebugFile) {
  const std::unique_ptr<a2n_context, void (*)(a2n_context*)> context(a2n_context_new(),
                                                                     a2n_context_free);
  a2n_set_search_path(context.get(), fixture("debugroot").c_str());
  // Two files of one path.
  const char* const path = "/nowhere/libid.so";
  const std::string other(40, '1');
  ASSERT_EQ(a2n_set_build_id(context.get(), path, 1, id), A2N_SUCCESS);
  ASSERT_EQ(a2n_set_build_id(context.get(), path, 2, other.c_str()), A2N_SUCCESS);
  const uint64_t value = truth::value_of(truth::functions(fixture("libfull.so")), "local_helper");
  SYMDATA data{};
  ASSERT_EQ(a2n_get_file_symbol(context.get(), path, 1, value, &data), A2N_SUCCESS);
  EXPECT_STREQ(data.sym_name, "local_helper");
  EXPECT_EQ(data.sym_addr, value);
  EXPECT_STREQ(data.mod_name, path);
  EXPECT_EQ(a2n_get_file_symbol(context.get(), path, 1, 1, &data), A2N_NO_SYMBOL_FOUND);
  EXPECT_EQ(a2n_get_file_symbol(context.get(), path, 2, value, &data), A2N_NO_SYMBOLS);
  EXPECT_EQ(a2n_get_file_symbol(context.get(), "[heap]", 1, value, &data), A2N_NO_MODULE);
  EXPECT_EQ(a2n_get_file_symbol(context.get(), "", 1, value, &data), A2N_INVALID_ARGUMENT);
}

TEST_F(DebugFiles, AFileIsOpenedIfItIsTheTracedOne) {
  const std::unique_ptr<a2n_context, void (*)(a2n_context*)> context(a2n_context_new(),
                                                                     a2n_context_free);
  const std::string here = fixture("libid.so"), other(40, '1');
  int fd = -1;
  ASSERT_EQ(a2n_set_build_id(context.get(), here.c_str(), 0, id), A2N_SUCCESS);
  ASSERT_EQ(a2n_open_file(context.get(), here.c_str(), 0, &fd), A2N_SUCCESS);
  const pi::UniqueFd file(fd);
  struct stat opened {
  }, wanted{};
  ASSERT_EQ(::fstat(file.get(), &opened), 0);
  ASSERT_EQ(::stat(here.c_str(), &wanted), 0);
  EXPECT_EQ(opened.st_ino, wanted.st_ino);
  EXPECT_NE(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
  // In a directory of the search path.
  ASSERT_EQ(a2n_set_build_id(context.get(), "/nowhere/libid.so", 0, id), A2N_SUCCESS);
  EXPECT_EQ(a2n_open_file(context.get(), "/nowhere/libid.so", 0, &fd), A2N_FILE_NOT_FOUND);
  a2n_set_search_path(context.get(), std::filesystem::path(here).parent_path().c_str());
  ASSERT_EQ(a2n_open_file(context.get(), "/nowhere/libid.so", 0, &fd), A2N_SUCCESS);
  ::close(fd);
  a2n_set_search_path(context.get(), "");
  ASSERT_EQ(a2n_set_build_id(context.get(), here.c_str(), 0, other.c_str()), A2N_SUCCESS);
  EXPECT_EQ(a2n_open_file(context.get(), here.c_str(), 0, &fd), A2N_NO_MODULE);
  EXPECT_NE(std::string(a2n_get_error_text(context.get())).find(other), std::string::npos);
  EXPECT_EQ(a2n_open_file(context.get(), "[heap]", 0, &fd), A2N_FILE_NOT_FOUND);
  EXPECT_EQ(a2n_open_file(context.get(), "", 0, &fd), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(a2n_open_file(context.get(), here.c_str(), 0, nullptr), A2N_INVALID_ARGUMENT);
}

TEST_F(DebugFiles, TheSearchPathIsSearchedForWholePathAndLastComponent) {
  const std::filesystem::path root = temporary("search");
  std::filesystem::create_directories(root / "opt/there");
  std::filesystem::copy_file(fixture("libfull.so"), root / "opt/there/libdeep.so");
  A2nSetSymbolSearchPath((root.string() + ":" + fixture("search")).c_str());
  map(fixture("libfull.so"), bias, "/opt/there/libdeep.so");
  expect_local_functions("libfull.so");
  A2nInit();
  A2nSetSymbolSearchPath(fixture("search").c_str());
  map(fixture("libfull.so"), bias, "/nowhere/libgone.so");
  expect_local_functions("libfull.so");
}

TEST_F(DebugFiles, AFileWithAnotherBuildIdIsNotUsedAndTheNoteNamesBoth) {
  const std::string file = fixture("libother.so");
  A2nSetModuleBuildId(file.c_str(), id);
  map(file, bias);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_EQ(name_at(address_of("plain_function")), "NoSymbols");
  EXPECT_THAT(notes(), ElementsAre(file + ": the file of this path has build-id " +
                                   "ffff456789abcdef0123456789abcdef01234567, traced was " + id +
                                   ": it was replaced since, or its process saw another file there "
                                   "(chroot, container, private mount); symbols not used"));
}

TEST_F(DebugFiles, AChangedFileIsReportedAsChanged) {
  const std::string file = fixture("libother.so");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  A2nSetModuleBuildId(file.c_str(), id);
  A2nAddModuleEx(pid, bias, 0x100000, file.c_str(), 0, 0, status.st_ino);
  ask(bias + 0x1000);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("it was changed since")));
}

// Its build-id was read through its process.
TEST_F(DebugFiles, AFileThatOnlyItsProcessSawIsNotReportedAsChanged) {
  A2nSetModuleBuildId("/nowhere/libmissing.so", id);
  map(fixture("libfull.so"), bias, "/nowhere/libmissing.so");
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(testing::AllOf(
                           HasSubstr("/nowhere/libmissing.so: it is not here"),
                           HasSubstr("only its process saw it (chroot, container, private mount)"),
                           HasSubstr("symbol search path"))));
}

TEST_F(DebugFiles, AFileTracedWithoutBuildIdMustStillHaveNone) {
  A2nSetModuleBuildId(fixture("libnoid.so").c_str(), "");
  map(fixture("libnoid.so"), bias);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_SUCCESS);
  A2nInit();
  A2nSetModuleBuildId(fixture("libfull.so").c_str(), "");
  map(fixture("libfull.so"), bias);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("traced was none: it was replaced")));
}

TEST_F(DebugFiles, AFileThatChangedWhileTracedIsNotUsed) {
  A2nSetModuleBuildId(fixture("libfull.so").c_str(), "?");
  map(fixture("libfull.so"), bias);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("changed or vanished")));
}

TEST_F(DebugFiles, AFileOutsideTheRecordersFileSystemViewIsNotUsed) {
  A2nSetModuleBuildId(fixture("libfull.so").c_str(), "!");
  map(fixture("libfull.so"), bias);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("its process saw other files")));
}

TEST_F(DebugFiles, ADeletedFileIsFoundOnlyInTheSearchPathByBuildId) {
  const std::string deleted = "/nowhere/libgone.so (deleted)";
  A2nSetSymbolSearchPath(fixture("search").c_str());
  map(fixture("libfull.so"), bias, deleted);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("deleted when it was traced")));
  A2nInit();
  A2nSetSymbolSearchPath(fixture("search").c_str());
  A2nSetModuleBuildId(deleted.c_str(), id);
  map(fixture("libfull.so"), bias, deleted);
  EXPECT_EQ(name_at(address_of("plain_function")), "plain_function");
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(DebugFiles, ADeletedFileIsNotReplacedByANewOneWithItsPath) {
  const std::string deleted = fixture("libfull.so") + " (deleted)";
  map(fixture("libfull.so"), bias, deleted);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
}

TEST_F(DebugFiles, OfSeveralInodesWithOnePathOnlyTheExistingOneIsUsed) {
  const std::string file = fixture("libfull.so");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  const auto add = [&](uint64_t base, uint64_t inode) {
    for (const truth::Load& load : truth::loads(file)) {
      if (!load.executable) continue;
      A2nAddModuleEx(pid, base + down(load.vaddr), up(load.memory_size), file.c_str(), 0,
                     down(load.offset), inode);
    }
  };
  add(bias, status.st_ino);
  add(bias + 0x1000000, status.st_ino + 1);
  EXPECT_EQ(name_at(address_of("plain_function")), "plain_function");
  EXPECT_EQ(ask(address_of("plain_function") + 0x1000000).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("is not the one that was mapped")));
}

TEST_F(DebugFiles, AMissingFileIsNotedOnceByTheFirstLookup) {
  map(fixture("libfull.so"), bias, "/nowhere/libmissing.so");
  EXPECT_THAT(notes(), IsEmpty());
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_EQ(ask(address_of("entry")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("/nowhere/libmissing.so: No such file")));
}

TEST_F(DebugFiles, OnlyRegularFilesAreOpened) {
  const std::string pipe = temporary("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  map(fixture("libfull.so"), bias, pipe);
  EXPECT_EQ(ask(address_of("entry")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("not a regular file")));
}

TEST_F(DebugFiles, ADeletedMemfdIsNoted) {
  A2nAddModule(pid, 0x10000, page, "/memfd:jit (deleted)", 0, 0);
  EXPECT_EQ(ask(0x10005).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("/memfd:jit (deleted): a file in memory")));
}

// The process that mapped the file is this one.
TEST_F(DebugFiles, ADeletedFileIsReadFromAProcessThatMappedItAndFromNoLaterOne) {
  const std::string gone = temporary("libgone.so");
  std::filesystem::copy_file(fixture("libfull.so"), gone);
  const int fd = ::open(gone.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  truth::Load code{};
  for (const truth::Load& load : truth::loads(gone))
    if (load.executable) code = load;
  const size_t size = up(code.vaddr + code.memory_size) - down(code.vaddr);
  const uint64_t offset = down(code.offset);
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, static_cast<off_t>(offset));
  ::close(fd);
  ASSERT_NE(mapping, MAP_FAILED);
  std::filesystem::remove(gone);
  const uint64_t begin = reinterpret_cast<uint64_t>(mapping);
  std::ostringstream map_file;
  map_file << "/proc/self/map_files/" << std::hex << begin << '-' << begin + size;
  if (::access(map_file.str().c_str(), R_OK) != 0) {
    ::munmap(mapping, size);
    GTEST_SKIP() << "reading /proc/PID/map_files needs CAP_SYS_ADMIN";
  }
  const auto process = static_cast<uint32_t>(::getpid());
  const auto symbol_for = [&](const std::string& traced_id, uint64_t time = 0) {
    A2nInit();
    A2nSetTime(time);
    A2nSetFileBuildId(gone.c_str(), 5, traced_id.c_str());
    A2nAddModuleEx(process, begin, size, gone.c_str(), 0, offset, 5);
    SYMDATA data{};
    const int rc =
        A2nGetSymbol(process, begin + address_of("entry") - bias - down(code.vaddr), &data);
    return rc == A2N_SUCCESS ? std::string(data.sym_name) : "rc " + std::to_string(rc);
  };
  EXPECT_EQ(symbol_for(id), "entry");
  EXPECT_EQ(symbol_for("00112233"), "rc 2");
  EXPECT_EQ(symbol_for(""), "rc 2");
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto time =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  EXPECT_EQ(symbol_for(id, time), "entry");
  EXPECT_EQ(symbol_for(id, 1), "rc 2") << "this process started after that time";
  ::munmap(mapping, size);
}

// Files with the traced build-id at the path that a process had mapped: in its root directory the
// mapped one, another one, one at the end of a link, one in a directory that is a link; a link that
// leads out of the root directory has another file of that path.
TEST_F(DebugFiles, AFileInTheRootDirectoryOfAProcessMustBeTheMappedOne) {
  const std::string root = temporary("root"), inside = root + temporary("");
  std::filesystem::create_directories(inside + "/directory");
  for (const char* name : {"/mapped.so", "/other.so", "/directory/library.so"})
    std::filesystem::copy_file(fixture("libfull.so"), inside + name);
  std::filesystem::create_symlink("mapped.so", inside + "/link.so");
  std::filesystem::create_symlink("directory", inside + "/way");
  std::filesystem::create_directories(temporary("outside"));
  std::filesystem::copy_file(fixture("libfull.so"), temporary("outside/library.so"));
  std::filesystem::create_symlink(temporary("outside"), inside + "/out");
  const test_support::RootedProcess process(root);
  if (!process.ready()) GTEST_SKIP() << "needs the right to call chroot()";
  const auto symbol_for = [&](const std::string& name, const std::string& mapped) {
    struct stat facts {};
    EXPECT_EQ(::stat(mapped.c_str(), &facts), 0);
    const std::string path = temporary(name);
    const auto traced = static_cast<uint32_t>(process.pid());
    A2nInit();
    A2nSetFileBuildId(path.c_str(), facts.st_ino, id);
    for (const truth::Load& load : truth::loads(fixture("libfull.so")))
      if (load.executable)
        A2nAddModuleEx(traced, down(load.vaddr) + bias,
                       up(load.vaddr + load.memory_size) - down(load.vaddr), path.c_str(), 0,
                       down(load.offset), facts.st_ino);
    SYMDATA data{};
    return A2nGetSymbol(traced, address_of("entry"), &data) == A2N_SUCCESS;
  };
  EXPECT_TRUE(symbol_for("mapped.so", inside + "/mapped.so"));
  EXPECT_FALSE(symbol_for("other.so", inside + "/mapped.so"));
  EXPECT_FALSE(symbol_for("link.so", inside + "/mapped.so"));
  EXPECT_FALSE(symbol_for("way/library.so", inside + "/directory/library.so"));
  EXPECT_FALSE(symbol_for("out/library.so", temporary("outside/library.so")));
}

// Another process has put a link in the place of the file.
TEST_F(DebugFiles, AProcesssFileThatWasReplacedByASymbolicLinkIsNotUsed) {
  const std::string other = temporary("other.so"), link = temporary("link.so");
  std::filesystem::copy(fixture("libfull.so"), other);
  std::filesystem::create_symlink(other, link);
  const auto process = static_cast<uint32_t>(::getpid());
  A2nSetModuleBuildId(link.c_str(), id);
  for (const truth::Load& load : truth::loads(other))
    if (load.executable)
      A2nAddModuleEx(process, down(load.vaddr) + bias,
                     up(load.vaddr + load.memory_size) - down(load.vaddr), link.c_str(), 0,
                     down(load.offset), 1);
  SYMDATA data{};
  EXPECT_EQ(A2nGetSymbol(process, address_of("entry"), &data), A2N_NO_SYMBOLS);
}

TEST_F(DebugFiles, AFileWithoutABuildIdMustHaveTheMappedInode) {
  const std::string file = fixture("libnoid.so");
  struct stat facts {};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  for (const uint64_t other : {0, 1}) {
    A2nInit();
    A2nSetModuleBuildId(file.c_str(), "");
    A2nAddModuleEx(pid, 0x10000, 0x100000, file.c_str(), 0, 0, facts.st_ino + other);
    SYMDATA data{};
    A2nGetSymbol(pid, 0x10000, &data);
    if (other == 0)
      EXPECT_THAT(notes(), IsEmpty());
    else
      EXPECT_THAT(notes(), ElementsAre(HasSubstr("is not the one that was mapped")));
  }
}

// On overlayfs the inode does not identify a file, and a link could lead to another user's file.
TEST_F(DebugFiles, AFileWithoutABuildIdIsNotReadThroughASymbolicLink) {
  const std::string file = temporary("libnoid.so"), moved = temporary("moved");
  std::filesystem::create_directory(moved);
  std::filesystem::copy(truth::fixture("libnoid.so"), moved + "/libnoid.so");
  std::filesystem::create_symlink(moved + "/libnoid.so", file);
  std::filesystem::create_directory_symlink(moved, temporary("folder"));
  for (const std::string& path :
       {file, temporary("folder") + "/libnoid.so", moved + "/libnoid.so"}) {
    A2nInit();
    A2nSetModuleBuildId(path.c_str(), "");
    map(moved + "/libnoid.so", 0x10000, path);
    const auto functions = truth::functions(moved + "/libnoid.so");
    (void)ask(0x10000 + functions.front().value);
    if (path.starts_with(moved))
      EXPECT_THAT(notes(), IsEmpty());
    else
      EXPECT_THAT(notes(), ElementsAre(HasSubstr("through a symbolic link")));
  }
}

// Build-ids are not always unique: an author can choose them.
TEST_F(DebugFiles, AnotherFileWithTheTracedBuildIdIsNotedAndNotReadThroughASymbolicLink) {
  const std::string file = temporary("libfull.so"), link = temporary("link.so");
  std::filesystem::copy(fixture("libfull.so"), file);
  std::filesystem::create_symlink(file, link);
  const uint64_t start = truth::functions(file).front().value;
  struct stat facts {};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  for (const std::string& path : {file, link}) {
    A2nInit();
    A2nSetErrorMessageMode(A2N_MESSAGES_INFO);
    A2nSetModuleBuildId(path.c_str(), id);
    for (const truth::Load& load : truth::loads(file))
      if (load.executable)
        A2nAddModuleEx(pid, down(load.vaddr) + bias,
                       up(load.vaddr + load.memory_size) - down(load.vaddr), path.c_str(), 0,
                       down(load.offset), facts.st_ino + 1);
    EXPECT_EQ(ask(start + bias).rc, path == file ? A2N_SUCCESS : A2N_NO_SYMBOLS);
    EXPECT_THAT(notes(), Contains(HasSubstr(path == file ? "one with the same build-id"
                                                         : "through a symbolic link")));
  }
}

// The recorder does not read the build-ids of too many files at once, and a user can replace one.
TEST_F(DebugFiles, AFileForWhichTheTraceHasNoBuildIdAlthoughItHasOthersIsNotUsed) {
  A2nSetModuleBuildId("/another/file", id);
  map(fixture("libfull.so"), bias);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("could not read it in time")));
}

TEST_F(DebugFiles, OfATraceWithoutBuildIdsAFileMustHaveTheMappedInode) {
  const std::string file = fixture("libfull.so");
  struct stat facts {};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  A2nAddModuleEx(pid, 0x10000, 0x100000, file.c_str(), 0, 0, facts.st_ino + 1);
  SYMDATA data{};
  EXPECT_EQ(A2nGetSymbol(pid, 0x10000, &data), A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("is not the one that was mapped")));
}

TEST_F(DebugFiles, OfATraceWithoutBuildIdsAFileIsNotReadThroughASymbolicLink) {
  const std::string link = temporary("libfull.so");
  std::filesystem::create_symlink(fixture("libfull.so"), link);
  map(fixture("libfull.so"), bias, link);
  EXPECT_EQ(ask(address_of("plain_function")).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("through a symbolic link")));
}

TEST_F(DebugFiles, LabelsHaveNoSymbolsAndNoNotes) {
  const char* names[] = {"//anon", "[heap]", "[stack]", "/SYSV00000000 (deleted)",
                         "anon_inode:[x]"};
  uint64_t base = 0x10000;
  for (const char* name : names) {
    A2nAddModule(pid, base, page, name, 0, 0);
    const Answer answer = ask(base + 5);
    EXPECT_EQ(answer.rc, A2N_NO_SYMBOLS);
    EXPECT_EQ(answer.module, name);
    EXPECT_EQ(answer.symbol, "NoSymbols");
    EXPECT_EQ(answer.data.sym_addr, base);
    EXPECT_EQ(answer.data.sym_length, page);
    base += 0x10000;
  }
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(DebugFiles, InvalidBuildIdsAreRefused) {
  EXPECT_EQ(A2nSetModuleBuildId("/x", "0123456789abcdef"), A2N_SUCCESS);
  EXPECT_EQ(A2nSetModuleBuildId("/x", ""), A2N_SUCCESS);
  EXPECT_EQ(A2nSetModuleBuildId("/x", "?"), A2N_SUCCESS);
  for (const char* wrong : {"0123456789ABCDEF", "012", "xyz0", "-", "../../etc"}) {
    EXPECT_EQ(A2nSetModuleBuildId("/x", wrong), A2N_INVALID_ARGUMENT) << wrong;
  }
  EXPECT_EQ(A2nSetModuleBuildId(nullptr, "00"), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nSetModuleBuildId("/x", nullptr), A2N_INVALID_ARGUMENT);
}

}  // namespace
