// SPDX-License-Identifier: MIT
// Model-specific registers of one CPU, through the kernel's msr device.
#include "msr.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/unique_fd.h>
#include <pi/module_advice.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The device is missing: for this CPU, or for all.
Error no_device(uint32_t cpu, const std::string& device, const MsrPlaces& places) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(places.devices, error), end;
       !error && entry != end; entry.increment(error))
    if (exists(entry->path().string() + "/msr"))
      return {PU_ERROR_INVALID_PARAMETER,
              fmt::format("There is no CPU {}, or it is offline.", cpu)};
  if (exists(places.module))
    return {PU_ERROR_NOT_SUPPORTED,
            fmt::format("There is no {} although the kernel's msr module is loaded: a container "
                        "hides it. Run outside of it, or give it the device and CAP_SYS_RAWIO.",
                        device)};
  return {PU_ERROR_NOT_SUPPORTED,
          fmt::format(
              "There is no {}: {}. Without its msr module (CONFIG_X86_MSR) the kernel gives "
              "no access to these registers.",
              device,
              no_modules_because().empty() ? "load the kernel's msr module ('sudo modprobe msr')"
                                           : no_modules_because())};
}

Error open_error(int error, uint32_t cpu, const std::string& device, const MsrPlaces& places) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return no_device(cpu, device, places);
    case ENXIO:
    case ENODEV:
      return {PU_ERROR_INVALID_PARAMETER,
              fmt::format("There is no CPU {}, or it is offline.", cpu)};
    case EACCES:
      return {PU_ERROR_ACCESS_DENIED,
              fmt::format("This user may not open {}: only root may.", device)};
    case EPERM:
      return {
          PU_ERROR_ACCESS_DENIED,
          fmt::format("The kernel does not let this process open {}: it lacks CAP_SYS_RAWIO. Be "
                      "root; in a container, add that capability.",
                      device)};
    case EIO:
      return {PU_ERROR_NOT_SUPPORTED, fmt::format("CPU {} has no model-specific registers.", cpu)};
    default:
      return {PU_FAILURE, fmt::format("{} cannot be opened: {}.", device, errno_text(error))};
  }
}

// The active level, the one in brackets: "none [integrity] confidentiality".
std::string lockdown_level(const MsrPlaces& places) {
  const std::string text = read_line(places.lockdown);
  const size_t open = text.find('['), close = text.find(']');
  return open == std::string::npos || close == std::string::npos || close < open
             ? ""
             : text.substr(open + 1, close - open - 1);
}

Error write_denied(const std::string& device, const MsrPlaces& places) {
  const std::string level = lockdown_level(places);
  if (!level.empty() && level != "none")
    return {PU_ERROR_ACCESS_DENIED,
            fmt::format(
                "The kernel is locked down ({}), as it is with Secure Boot: no process may write "
                "these registers. Switch Secure Boot off, or boot without lockdown=.",
                level)};
  const std::string parameter = places.module + "/parameters/allow_writes";
  if (read_line(parameter) == "off")
    return {PU_ERROR_ACCESS_DENIED,
            fmt::format("The msr module refuses all writes: 'echo on | sudo tee {}'.", parameter)};
  return {PU_ERROR_ACCESS_DENIED,
          fmt::format("The kernel does not let this process write to {}.", device)};
}

Error access_error(int error, bool writing, uint32_t cpu, uint32_t number,
                   const std::string& device, const MsrPlaces& places) {
  if (error == EPERM && writing) return write_denied(device, places);
  if (error == EPERM || error == EACCES)
    return {PU_ERROR_ACCESS_DENIED,
            fmt::format("The kernel does not let this process read from {}.", device)};
  if (error == ENXIO)
    return {PU_ERROR_INVALID_PARAMETER, fmt::format("CPU {} has gone offline.", cpu)};
  if (error == EIO)
    return {
        PU_FAILURE,
        fmt::format("The processor refuses to {} register {:#x} on CPU {}: {}.",
                    writing ? "write" : "read", number, cpu,
                    writing ? "it does not exist, is read-only, or the value has bits that must "
                              "not be changed"
                            : "it does not exist here, or can only be written")};
  return {PU_FAILURE, fmt::format("Register {:#x} on CPU {} cannot be {}: {}.", number, cpu,
                                  writing ? "written" : "read", errno_text(error))};
}

struct OpenDevice {
  std::string name;
  UniqueFd fd;
};

Result<OpenDevice> open_device(uint32_t cpu, int mode, const MsrPlaces& places) {
  OpenDevice device{fmt::format("{}/{}/msr", places.devices, cpu), UniqueFd()};
  device.fd = UniqueFd(::open(device.name.c_str(), mode | O_CLOEXEC));
  if (!device.fd) return open_error(errno, cpu, device.name, places);
  return device;
}

}  // namespace

Result<uint64_t> read_msr(uint32_t cpu, uint32_t number, const MsrPlaces& places) {
  const auto device = open_device(cpu, O_RDONLY, places);
  if (!device) return device.error();
  uint64_t value = 0;
  const auto got = read_at(device->fd.get(), number, std::as_writable_bytes(std::span(&value, 1)));
  const int error = got.error == 0 && got.bytes != sizeof value ? EIO : got.error;
  if (error != 0) return access_error(error, false, cpu, number, device->name, places);
  return value;
}

Status write_msr(uint32_t cpu, uint32_t number, uint64_t value, const MsrPlaces& places) {
  const auto device = open_device(cpu, O_WRONLY, places);
  if (!device) return device.error();
  const int error = write_all_at(device->fd.get(), number, std::as_bytes(std::span(&value, 1)));
  if (error != 0) return access_error(error, true, cpu, number, device->name, places);
  return {};
}

}  // namespace pi::perfutil
