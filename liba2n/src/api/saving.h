// SPDX-License-Identifier: MIT
// Saves the library's symbols to MSI files and loads them.
#ifndef A2N_SAVING_H
#define A2N_SAVING_H

#include <string>

#include "lookup/library.h"
#include "pi/result.h"

namespace a2n {

// Reads the symbols of all modules and writes them, with those of the kernel image, to a new file.
pi::Status create_msi_file(Library& library, const std::string& path);

// Writes the symbols that were read up to now, and the kernel's symbols as they were used.
pi::Status save_trace_symbols(Library& library, int fd);

// rc: A2N_SUCCESS, A2N_MSI_ERROR or A2N_MSI_DAMAGED; text: the reason, "" on success.
struct LoadOutcome {
  int rc;
  std::string text;
};
// of_this_trace: the file was saved for the trace that is analysed, so its kernel symbols apply.
LoadOutcome load_msi(Library& library, int fd, const std::string& name, bool of_this_trace);

}  // namespace a2n

#endif  // A2N_SAVING_H
