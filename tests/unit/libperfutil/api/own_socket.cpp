// SPDX-License-Identifier: MIT
// Gives this test program its own socket for user hooks, because other tests and recorders of this
// user run at the same time. The library reads the name when it is loaded, so the program executes
// itself again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

constexpr char variable[] = "PITRACE_SOCKET";
constexpr char of_test[] = "/pitrace-api-test-";

__attribute__((constructor)) void take_own_socket(int, char** arguments, char**) {
  const char* const known = ::getenv(variable);
  if (known && std::string(known).find(of_test) != std::string::npos) return;
  for (char** argument = arguments; *argument; ++argument)
    if (std::string(*argument) == "--gtest_list_tests") return;
  std::string directory = std::string("/tmp") + of_test + "XXXXXX";
  if (!::mkdtemp(directory.data())) return;
  ::setenv(variable, (directory + "/socket").c_str(), 1);
  ::execv("/proc/self/exe", arguments);
}

class OwnSocket : public testing::Environment {
  void TearDown() override {
    if (const char* const socket = ::getenv(variable))
      std::filesystem::remove_all(std::filesystem::path(socket).parent_path());
  }
};

[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(new OwnSocket);

}  // namespace
