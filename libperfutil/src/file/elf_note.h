// SPDX-License-Identifier: MIT
// Finds the GNU build-id in notes and in ELF images; no byte of them is trusted.
#ifndef PI_PERFUTIL_ELF_NOTE_H
#define PI_PERFUTIL_ELF_NOTE_H

#include <optional>
#include <span>
#include <string>

namespace pi::perfutil {

// The build-id in a sequence of notes, each padded to alignment (4 or 8); hexadecimal. Nothing when
// there is none.
std::optional<std::string> build_id_in_notes(std::span<const std::byte> notes, size_t alignment);

// Reads an ELF file's program headers and note segments. "" when it is an ELF file without a
// build-id; nothing when it is not one or cannot be read.
std::optional<std::string> build_id_of_file(int fd);

// The build-id of this process's own vdso; "" when it has none.
std::string build_id_of_vdso();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_ELF_NOTE_H
