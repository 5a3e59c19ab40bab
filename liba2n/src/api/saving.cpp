// SPDX-License-Identifier: MIT
// Saves the library's symbols to MSI files and loads them.
#include "saving.h"

#include <cstring>
#include <utility>

#include "a2n_context.h"
#include "pi/new_file.h"
#include "saved/msi_file.h"

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

}  // namespace

pi::Status create_msi_file(Library& library, const std::string& path) {
  auto file = pi::NewFile::create(path, ".a2n-", 0666, pi::Umask::applied);
  if (!file) return pi::Error{file.error().code, path + ": " + file.error().message};
  if (auto status = write_gathered(library, file->fd(), path); !status) return status;
  if (const int error = file->commit(); error != 0)
    return pi::Error{error, path + ": " + std::strerror(error)};
  return {};
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
