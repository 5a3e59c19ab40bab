// SPDX-License-Identifier: MIT
// The library's symbols to MSI files and back.
#ifndef A2N_SAVING_H
#define A2N_SAVING_H

#include <string>

#include "lookup/library.h"
#include "pi/result.h"

namespace a2n {

// Gathers the symbols of all modules and writes them, with the kernel's image, to a new file.
pi::Status create_msi_file(Library& library, const std::string& path);

// Writes what was gathered, and the kernel's symbols as they were used.
pi::Status save_trace_symbols(Library& library, int fd);

// A2N_SUCCESS, A2N_MSI_ERROR or A2N_MSI_DAMAGED, with what is to be said about it.
struct LoadOutcome {
  int rc;
  std::string text;
};
// of_this_trace: the kernel's symbols were saved for the trace that is analysed.
LoadOutcome load_msi(Library& library, int fd, const std::string& name, bool of_this_trace);

}  // namespace a2n

#endif  // A2N_SAVING_H
