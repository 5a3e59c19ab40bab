// SPDX-License-Identifier: MIT
// The library's symbols to MSI files and back.
#include "saving.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "a2n.h"
#include "msi_file.h"
#include "pi/unique_fd.h"

namespace a2n {
namespace {

constexpr char archive_name[] = "the archive's symbols";

pi::Status write_modules(Library& library, MsiWriter& writer) {
  for (const SavedModule& module : library.modules().loaded())
    if (const pi::Status status = writer.add(module); !status) return status;
  return {};
}

pi::Status write_gathered(Library& library, int fd, const std::string& path) {
  auto image = library.kernel().read_image();
  if (!image) return image.error();
  library.gather();
  MsiWriter writer(fd, path);
  pi::Status status = writer.begin();
  if (status) status = write_modules(library, writer);
  if (status && *image) status = writer.add(**image);
  return status ? writer.end() : status;
}

// As a file that is simply created would have it.
mode_t usual_mode() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

pi::Status create_msi_file(Library& library, const std::string& path) {
  std::string temporary = path.substr(0, path.rfind('/') + 1) + ".a2n-XXXXXX";
  pi::UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return pi::Error{errno, path + ": " + std::strerror(errno)};
  pi::Status status = write_gathered(library, fd.get(), path);
  if (status && (::fchmod(fd.get(), usual_mode()) != 0 || ::close(fd.release()) != 0 ||
                 ::rename(temporary.c_str(), path.c_str()) != 0))
    status = pi::Error{errno, path + ": " + std::strerror(errno)};
  if (!status) ::unlink(temporary.c_str());
  return status;
}

pi::Status save_trace_symbols(Library& library, int fd) {
  MsiWriter writer(fd, archive_name);
  pi::Status status = writer.begin();
  if (status) status = write_modules(library, writer);
  if (status) status = writer.add(library.kernel().saved());
  return status ? writer.end() : status;
}

LoadOutcome load_msi(Library& library, int fd, const std::string& name, bool of_this_trace) {
  if (!library.modules().empty())
    return {A2N_MSI_ERROR, name + ": saved symbols have to be loaded before any module is added"};
  auto content = read_msi(fd, name);
  if (!content) return {A2N_MSI_ERROR, content.error().message};
  SavedSymbols& symbols = content->symbols;
  library.modules().set_saved(std::move(symbols.modules));
  if (symbols.kernel && of_this_trace) library.kernel().set_saved(std::move(*symbols.kernel));
  if (symbols.kernel_image) library.kernel().set_saved_image(std::move(*symbols.kernel_image));
  library.set_msi_loaded();
  if (content->damage.empty()) return {A2N_SUCCESS, ""};
  std::string text = content->damage.front();
  if (const size_t more = content->damage.size() - 1; more > 0)
    text += "; and " + std::to_string(more) + " more places";
  return {A2N_MSI_DAMAGED, text};
}

}  // namespace a2n
