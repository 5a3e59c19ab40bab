// SPDX-License-Identifier: MIT
// The advice in messages about the module, with commands that work on this machine.
#ifndef PI_MODULE_ADVICE_H
#define PI_MODULE_ADVICE_H

#include <limits.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

namespace pi {

inline std::string own_program_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : "";
}

// The command that loads the module, built or installed. sudo does not search the caller's PATH, so
// a script in the program's directory is named by its path.
inline std::string tinstall_command() {
  const std::string program = own_program_path();
  const std::string script = program.substr(0, program.rfind('/') + 1) + "tinstall";
  return "sudo " + (::access(script.c_str(), X_OK) == 0 ? script : "tinstall");
}

// Whether this program is in the build folder of a source tree, which can also build the module.
inline bool in_source_tree() {
  const std::string program = own_program_path();
  const std::string script =
      program.substr(0, program.rfind('/') + 1) + "../../scripts/build-module";
  return ::access(script.c_str(), X_OK) == 0;
}

// The reason why the kernel cannot load modules; empty when it can.
inline std::string no_modules_because(const std::string& proc_path = "/proc") {
  if (::access((proc_path + "/modules").c_str(), F_OK) != 0)
    return "this kernel has no loadable modules (it was built without CONFIG_MODULES)";
  std::string disabled;
  std::getline(std::ifstream(proc_path + "/sys/kernel/modules_disabled"), disabled);
  return disabled == "1"
             ? "module loading is disabled (kernel.modules_disabled is 1) until the next boot"
             : "";
}

// A sentence with the command that loads the module, or with the reason why it cannot be loaded.
inline std::string load_module_advice() {
  if (const std::string why = no_modules_because(); !why.empty())
    return "It cannot be loaded: " + why + ".";
  return "Load it with '" + tinstall_command() + "'.";
}

// A shell command that creates the group that may open the module's device, with this user in it.
// It works whether the module is loaded or not.
inline std::string module_group_commands() {
  return "sudo groupadd -f --system pitrace && sudo usermod -aG pitrace $USER && " +
         tinstall_command() + " --group pitrace";
}

}  // namespace pi

#endif  // PI_MODULE_ADVICE_H
