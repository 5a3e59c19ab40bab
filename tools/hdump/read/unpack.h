// SPDX-License-Identifier: MIT
// Writes a heap dump as .hprof: the bytes that the JVM wrote.
#ifndef HDUMP_READ_UNPACK_H
#define HDUMP_READ_UNPACK_H

#include <cstdint>
#include <functional>
#include <string>

#include <pi/result.h>

#include "byte_stream.h"

namespace hdump {

struct Unpacked {
  uint64_t bytes = 0;
  std::string error;  // why the stream ended early; empty if it did not
};

// Only the user can read the file, as a heap has passwords. progress: as for read_dump(). The
// error's message is a sentence.
pi::Result<Unpacked> unpack(ByteStream& stream, const std::string& path,
                            const std::function<void(uint64_t)>& progress);

}  // namespace hdump

#endif  // HDUMP_READ_UNPACK_H
