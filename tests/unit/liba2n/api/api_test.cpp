// SPDX-License-Identifier: MIT
// The C API: return codes, argument checks, exported names.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "a2n_fixture.h"

namespace {

class Api : public A2nTest {};

TEST_F(Api, TheLibraryExportsExactlyTheHeadersFunctions) {
  std::set<std::string> exported;
  std::istringstream symbols(truth::run("nm -D --defined-only --format=posix " A2N_LIBRARY));
  for (std::string line; std::getline(symbols, line);)
    exported.insert(line.substr(0, line.find(' ')));
  EXPECT_EQ(exported, (std::set<std::string>{"A2nAddJittedMethod",
                                             "A2nAddJittedMethodEx",
                                             "A2nAddMMIMethod",
                                             "A2nGetFileAddressAt",
                                             "A2nGetFramesAt",
                                             "A2nGetNextCodeChange",
                                             "A2nLoadJittedMethods",
                                             "A2nLoadJittedMethodsFrom",
                                             "A2nRemoveJittedMethod",
                                             "A2nSetCacheDirectory",
                                             "A2nUseDebuginfod",
                                             "A2nSetCodeGatherMode",
                                             "A2nSetCollapseMMIRange",
                                             "A2nSetJittedTimesMode",
                                             "A2nAddModule",
                                             "A2nAddModuleEx",
                                             "A2nCloneProcess",
                                             "A2nCollapseSymbolRange",
                                             "A2nCreateMsiFile",
                                             "A2nCreateProcess",
                                             "A2nDemangle",
                                             "A2nExecProcess",
                                             "A2nForkProcess",
                                             "A2nGetCodeAt",
                                             "A2nGetErrorText",
                                             "A2nGetMsiFileInformation",
                                             "A2nGetNote",
                                             "A2nGetNoteBytes",
                                             "A2nGetNoteLevel",
                                             "A2nGetOwnerAt",
                                             "A2nGetPltNameAt",
                                             "A2nGetProcessName",
                                             "A2nGetProcessNameAt",
                                             "A2nGetSymbol",
                                             "A2nGetSymbolAt",
                                             "A2nGetSymbolFile",
                                             "A2nGetVersion",
                                             "A2nInit",
                                             "A2nLoadMsiFile",
                                             "A2nLoadTraceSymbols",
                                             "A2nOpenJittedMethods",
                                             "A2nOpenSymbolFile",
                                             "A2nRcToString",
                                             "A2nReadCodeAt",
                                             "A2nReleaseProcess",
                                             "A2nSaveTraceSymbols",
                                             "A2nSetDemangleCppNamesMode",
                                             "A2nSetErrorMessageMode",
                                             "A2nSetFileClock",
                                             "A2nSetFileBuildId",
                                             "A2nSetKallsymsFileLocation",
                                             "A2nSetKernelImageName",
                                             "A2nSetKernelMapName",
                                             "A2nSetModuleBuildId",
                                             "A2nSetModulesFileLocation",
                                             "A2nSetNoSymbolFoundAction",
                                             "A2nSetProcessName",
                                             "A2nSetRangeDescFilename",
                                             "A2nSetRenameDuplicateSymbolsMode",
                                             "A2nSetReturnRangeSymbolsMode",
                                             "A2nSetSymbolQualityMode",
                                             "A2nSetSymbolSearchPath",
                                             "A2nSetSymbolValidationMode",
                                             "A2nSetTime",
                                             "A2nSetValidateKernelMode",
                                             "a2n_add_dynamic_code",
                                             "a2n_add_method",
                                             "a2n_add_module",
                                             "a2n_clone_process",
                                             "a2n_collapse_symbol_range",
                                             "a2n_context_free",
                                             "a2n_context_new",
                                             "a2n_create_msi_file",
                                             "a2n_create_process",
                                             "a2n_demangle",
                                             "a2n_exec_process",
                                             "a2n_fork_process",
                                             "a2n_get_code",
                                             "a2n_get_error_text",
                                             "a2n_get_file_address",
                                             "a2n_get_file_symbol",
                                             "a2n_get_frames",
                                             "a2n_get_msi_file_information",
                                             "a2n_get_next_code_change",
                                             "a2n_get_note",
                                             "a2n_get_note_bytes",
                                             "a2n_get_note_level",
                                             "a2n_get_owner",
                                             "a2n_get_plt_name",
                                             "a2n_get_process_name",
                                             "a2n_get_symbol",
                                             "a2n_get_symbol_file",
                                             "a2n_get_version",
                                             "a2n_load_methods",
                                             "a2n_load_methods_from",
                                             "a2n_load_msi_file",
                                             "a2n_load_trace_symbols",
                                             "a2n_open_file",
                                             "a2n_open_methods",
                                             "a2n_open_symbol_file",
                                             "a2n_rc_to_string",
                                             "a2n_read_code",
                                             "a2n_read_symbol_ranges",
                                             "a2n_release_process",
                                             "a2n_remove_method",
                                             "a2n_save_trace_symbols",
                                             "a2n_set_build_id",
                                             "a2n_set_cache_directory",
                                             "a2n_set_code_gather",
                                             "a2n_set_demangle",
                                             "a2n_set_dynamic_code_name",
                                             "a2n_set_file_clock",
                                             "a2n_set_jit_times",
                                             "a2n_set_kallsyms",
                                             "a2n_set_kernel_image",
                                             "a2n_set_kernel_map",
                                             "a2n_set_kernel_modules",
                                             "a2n_set_kernel_validation",
                                             "a2n_set_max_note_level",
                                             "a2n_set_no_symbol_action",
                                             "a2n_set_process_name",
                                             "a2n_set_range_symbols",
                                             "a2n_set_rename_duplicates",
                                             "a2n_set_search_path",
                                             "a2n_set_symbol_quality",
                                             "a2n_set_symbol_validation",
                                             "a2n_use_debuginfod"}));
}

std::string first_bytes(int fd) {
  char bytes[5] = "";
  return ::pread(fd, bytes, 4, 0) == 4 ? bytes : "";
}

TEST_F(Api, ASymbolFileIsOpenedOnlyIfItIsUnchanged) {
  const std::string file = temporary("program");
  std::filesystem::copy(truth::fixture("pie"), file);
  map(file, 0x10000);
  (void)ask(0x10000 + truth::functions(file).front().value);
  ASSERT_STREQ(A2nGetSymbolFile(0), file.c_str());
  int fd = -1;
  ASSERT_EQ(A2nOpenSymbolFile(0, &fd), A2N_SUCCESS);
  EXPECT_EQ(first_bytes(fd), "\177ELF");
  ::close(fd);
  EXPECT_EQ(A2nOpenSymbolFile(0, nullptr), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nOpenSymbolFile(1, &fd), A2N_INVALID_ARGUMENT);
  // The owner replaces the file by a link to another user's file.
  const std::string secret = temporary("secret");
  std::filesystem::rename(file, temporary("aside"));
  std::filesystem::copy(truth::fixture("pie"), secret);
  std::filesystem::create_symlink(secret, file);
  EXPECT_EQ(A2nOpenSymbolFile(0, &fd), A2N_FILE_NOT_FOUND);
  EXPECT_NE(std::string(A2nGetErrorText()).find("replaced"), std::string::npos);
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(A2nOpenSymbolFile(0, &fd), A2N_FILE_NOT_FOUND);
}

TEST_F(Api, OpeningAJitFileChecksItsOwner) {
  const std::string map_file = temporary("perf-100.map");
  std::ofstream(map_file) << "1000 20 a\n";
  ASSERT_EQ(::chmod(map_file.c_str(), 0644), 0);
  A2nCreateProcess(pid);
  int fd = -1;
  ASSERT_EQ(A2nOpenJittedMethods(pid, A2N_JIT_PERF_MAP, map_file.c_str(), &fd), A2N_SUCCESS);
  std::filesystem::remove(map_file);
  EXPECT_EQ(A2nLoadJittedMethodsFrom(pid, A2N_JIT_PERF_MAP, fd, "map", nullptr), A2N_SUCCESS);
  ::close(fd);
  EXPECT_EQ(name_at(0x1000), "a");
  EXPECT_EQ(A2nOpenJittedMethods(pid, A2N_JIT_PERF_MAP, map_file.c_str(), &fd), A2N_FILE_NOT_FOUND);
  std::ofstream(temporary("others")) << "1000 20 a\n";
  ASSERT_EQ(::chmod(temporary("others").c_str(), 0666), 0);
  EXPECT_EQ(A2nOpenJittedMethods(pid, A2N_JIT_PERF_MAP, temporary("others").c_str(), &fd),
            A2N_JITTED_ERROR);
  EXPECT_EQ(A2nOpenJittedMethods(pid, 99, map_file.c_str(), &fd), A2N_INVALID_ARGUMENT);
}

TEST_F(Api, EveryReturnCodeHasADifferentText) {
  std::set<std::string> words;
  const int codes[] = {A2N_SUCCESS,         A2N_NO_SYMBOL_FOUND,  A2N_NO_SYMBOLS,
                       A2N_NO_MODULE,       A2N_FLAKY_SYMBOL,     A2N_ADD_MODULE_ERROR,
                       A2N_NO_PROCESS,      A2N_MEMORY_ERROR,     A2N_CREATE_PROCESS_ERROR,
                       A2N_NULL_SYMDATA,    A2N_INVALID_ARGUMENT, A2N_FILE_NOT_FOUND,
                       A2N_FORK_ERROR,      A2N_CLONE_ERROR,      A2N_INTERNAL_ERROR,
                       A2N_WRITE_ERROR,     A2N_MSI_ERROR,        A2N_MSI_DAMAGED,
                       A2N_RANGE_FILE_ERROR};
  for (const int code : codes) words.insert(A2nRcToString(code));
  EXPECT_EQ(words.size(), std::size(codes));
  EXPECT_STREQ(A2nRcToString(-1), "unknown return code");
}

TEST_F(Api, WrongArgumentsAreRefused) {
  EXPECT_EQ(A2nGetSymbol(pid, 0, nullptr), A2N_NULL_SYMDATA);
  EXPECT_EQ(A2nGetSymbolAt(pid, 0, 0, nullptr), A2N_NULL_SYMDATA);
  EXPECT_EQ(A2nForkProcess(1, 1), A2N_FORK_ERROR);
  EXPECT_EQ(A2nCloneProcess(1, 1), A2N_CLONE_ERROR);
  EXPECT_EQ(A2nSetProcessName(1, nullptr), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nAddModule(1, 0x1000, 0, "x", 0, 0), A2N_ADD_MODULE_ERROR);
  EXPECT_EQ(A2nAddModule(1, 0x1000, UINT64_MAX, "x", 0, 0), A2N_ADD_MODULE_ERROR);
  EXPECT_EQ(A2nAddModule(1, 0x1000, 0x1000, nullptr, 0, 0), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nAddModule(1, 0x1000, 0x1000, "", 0, 0), A2N_INVALID_ARGUMENT);
  EXPECT_EQ(A2nGetProcessName(77), nullptr);
}

TEST_F(Api, AnAddressWithoutModuleIsReportedAsNoModule) {
  const Answer answer = ask(0x1234);
  EXPECT_EQ(answer.rc, A2N_NO_MODULE);
  EXPECT_EQ(answer.module, "NoModule");
  EXPECT_EQ(answer.symbol, "NoSymbols");
  EXPECT_EQ(answer.data.sym_addr, 0u);
  EXPECT_EQ(answer.data.sym_length, 0u);
  EXPECT_EQ(answer.data.mod_addr, 0u);
  EXPECT_EQ(answer.data.mod_length, 0u);
}

TEST_F(Api, InitResetsTheDefaultContext) {
  A2nAddModule(pid, 0x1000, 0x1000, "/nowhere/libx.so", 0, 0);
  A2nSetProcessName(pid, "name");
  EXPECT_EQ(ask(0x1000).rc, A2N_NO_SYMBOLS);
  EXPECT_NE(A2nGetNote(0), nullptr);
  EXPECT_EQ(A2nInit(), A2N_SUCCESS);
  EXPECT_EQ(ask(0x1000).rc, A2N_NO_MODULE);
  EXPECT_EQ(A2nGetNote(0), nullptr);
  EXPECT_EQ(A2nGetProcessName(pid), nullptr);
}

TEST_F(Api, ANameIsDemangledWhateverTheSettingIs) {
  A2nSetDemangleCppNamesMode(0);
  char text[16];
  EXPECT_EQ(A2nDemangle("_ZN3foo3barEv", text, sizeof text), 10u);
  EXPECT_STREQ(text, "foo::bar()");
  EXPECT_EQ(A2nDemangle("_ZN3foo3barEv", text, 4), 10u);
  EXPECT_STREQ(text, "foo");
  EXPECT_EQ(A2nDemangle("_ZN3foo3barEv", nullptr, 0), 10u);
  EXPECT_EQ(A2nDemangle("_RNvC3foo3bar", text, sizeof text), 8u);
  EXPECT_STREQ(text, "foo::bar");
  for (const char* plain : {"main", "", static_cast<const char*>(nullptr)}) {
    text[0] = 'x';
    EXPECT_EQ(A2nDemangle(plain, text, sizeof text), 0u);
    EXPECT_STREQ(text, "");
  }
}

TEST_F(Api, TheVersionIsOne) {
  EXPECT_EQ(A2nGetVersion() >> 24, 1u);
}

}  // namespace
