// SPDX-License-Identifier: MIT
// Writes and reads archives of one trace: a zstd-compressed tar file with the trace, the symbols
// that its analysis needs and, on request, the files they came from. Any tar program can list and
// unpack it.
#ifndef POST_TRACE_ARCHIVE_H
#define POST_TRACE_ARCHIVE_H

#include <pi/result.h>
#include <pi/unique_fd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "debian_packages.h"
#include "runtime_logs.h"
#include "text/sink.h"

namespace post {

constexpr size_t max_archived_logs = 256;

// Returns whether the file at path begins as archives do; false if it cannot be read.
bool is_archive(const std::string& path);

// The members that post reads, in unnamed files: closing a file deletes it.
struct ArchiveContent {
  pi::UniqueFd trace;
  pi::UniqueFd symbols;
  std::map<LogKey, pi::UniqueFd> logs;  // of JIT-compiled code
  Packages packages;                    // of files without symbols
  std::string damage;                   // why it could be read only in part; "" when it is complete
};

// Unpacks the trace and its symbols; other members are only checked. No name out of the archive is
// used for a file: directory holds the unnamed ones. Links, special files and members of more than
// 1 TiB (trace) or 4 GiB (symbols, a log), more than 256 logs, or more than the file system has
// space for, are refused. Of a truncated archive, the part of the trace that is there is unpacked.
pi::Result<ArchiveContent> unpack_archive(const std::string& path, const std::string& directory);

// An unnamed file in directory, for reading and writing.
pi::Result<pi::UniqueFd> unnamed_file(const std::string& directory);

// Neither owned nor moved; read from its beginning to size.
struct ArchiveSources {
  int trace;
  int symbols;
  std::vector<std::string> files;  // paths; kept below "files/"
  // Opens the index-th of them. The path may name another file by now.
  std::function<pi::Result<pi::UniqueFd>(size_t)> open_file;
  std::map<LogKey, int> logs;  // kept below "logs/"
  Packages packages = {};      // of files without symbols
};

pi::Status pack_archive(const ArchiveSources& sources, Sink& sink);

}  // namespace post

#endif  // POST_TRACE_ARCHIVE_H
