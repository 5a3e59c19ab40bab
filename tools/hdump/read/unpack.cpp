// SPDX-License-Identifier: MIT
#include "unpack.h"

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/new_file.h>

#include <cerrno>
#include <cstring>

namespace hdump {
namespace {

pi::Error failure(const std::string& path, const std::string& why) {
  return {-1, fmt::format("cannot write {}: {}.", path, why)};
}

}  // namespace

pi::Result<Unpacked> unpack(ByteStream& stream, const std::string& path,
                            const std::function<void(uint64_t)>& progress) {
  if (::access(path.c_str(), F_OK) == 0) return failure(path, std::strerror(EEXIST));
  auto file = pi::NewFile::create(path, ".hdump-", 0600);
  if (!file) return failure(path, file.error().message);
  Unpacked result;
  std::vector<std::byte> part(1 << 20);
  for (size_t got = part.size(); got == part.size();) {
    got = stream.read(part);
    if (const int error = pi::write_all(file->fd(), std::span(part).first(got)); error != 0)
      return failure(path, std::strerror(error));
    result.bytes += got;
    progress(stream.file_position());
  }
  result.error = stream.error();
  if (result.bytes == 0)
    return failure(path, result.error.empty() ? "the dump is empty" : result.error);
  if (const int error = file->commit(); error != 0) return failure(path, std::strerror(error));
  return result;
}

}  // namespace hdump
