// SPDX-License-Identifier: MIT
// MSI files: saved symbols. A header, then blocks, each compressed separately and with checksums,
// then an end block that contains the number of blocks. Integers are little-endian.
//
//   header (32 bytes)  0 magic "A2N-MSI\n"  8 version: major 16 bits, minor 16 bits
//                      12 word size 64, byte order 1 (little), system 2 (Linux), 0
//                      16 zeros  28 CRC-32 of the 28 bytes before
//   block (32 bytes)   0 kind  4 zero  8 compressed size
//                      16 uncompressed size (end block: number of blocks before it)
//                      24 CRC-32 of the compressed bytes  28 CRC-32 of the 28 bytes before
//                      32 the compressed bytes: one zstd frame
//
// Kinds: 0 the last block, 1 a module, 2 the kernel of one trace, 3 a kernel image, 4 (from version
// 1.1) functions without symbols, of the module in the next block.
//
// A reader accepts all minor versions of its major version and skips unknown kinds of blocks.
#ifndef A2N_MSI_FILE_H
#define A2N_MSI_FILE_H

#include <cstdint>
#include <string>
#include <vector>

#include "pi/result.h"
#include "saved_symbols.h"

namespace a2n {

// Maximum uncompressed size of all blocks in bytes, for reading and writing.
constexpr uint64_t max_unpacked = uint64_t{4} << 30;

class MsiWriter {
 public:
  // Writes to fd from its current offset on; the caller keeps fd open. name: for messages.
  MsiWriter(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  // Call begin(), any number of add(), then end(). After an error the file is not usable.
  pi::Status begin();
  pi::Status add(const SavedModule& module);
  pi::Status add(const SavedKernel& kernel);
  pi::Status add(const KernelSource& image);
  pi::Status end();

 private:
  pi::Status block(uint32_t kind, const std::string& bytes);
  pi::Status block(uint32_t kind, uint64_t unpacked, const std::string& stored);
  pi::Status write(const std::string& bytes);

  int fd_;
  std::string name_;
  uint64_t blocks_ = 0;
  uint64_t unpacked_ = 0;
};

struct MsiContent {
  SavedSymbols symbols;
  std::vector<std::string> damage;  // a sentence for each damaged block; intact blocks are used
};

// Reads a regular file from its beginning. An error if it is not an MSI file, or has an unknown
// version.
pi::Result<MsiContent> read_msi(int fd, const std::string& name);

}  // namespace a2n

#endif  // A2N_MSI_FILE_H
