// SPDX-License-Identifier: MIT
// Writes and reads archives of one trace: tar by libarchive, in a zstd frame that post writes
// itself, because libarchive's has no checksum.
#include "trace_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <pi/new_file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "text/zstd_stream.h"
#include "text_file.h"

namespace post {
namespace {

constexpr char readme_name[] = "README";
constexpr char symbols_name[] = "symbols.msi";
constexpr char trace_name[] = "trace.nrm2";
constexpr char packages_name[] = "packages";
constexpr char files_folder[] = "files";
constexpr uint64_t max_trace = uint64_t{1} << 40;
constexpr uint64_t max_symbols = uint64_t{4} << 30;
constexpr uint64_t max_packages = uint64_t{16} << 20;
constexpr unsigned char zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
constexpr size_t buffer_size = 1 << 18;

constexpr char readme[] =
    "An archive of a pitrace trace, written by post --archive.\n"
    "\n"
    "  post -r ARCHIVE        makes the reports on it, on any machine; the archive stays packed\n"
    "  trace.nrm2             the trace as it was recorded\n"
    "  symbols.msi            the symbols that its analysis needs\n"
    "  packages               the Debian packages of files without symbols\n"
    "  logs/                  logs of JProf and other runtimes on JIT-compiled code\n"
    "  files/                 with --archive-files: the files that the symbols came from\n";

struct FreeReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string reason_of(archive* of) {
  const char* text = archive_error_string(of);
  return text ? text : "unknown reason";
}

la_ssize_t read_from_zstd(archive*, void* reader, const void** bytes) {
  const std::string_view next = static_cast<ZstdReader*>(reader)->next();
  *bytes = next.data();
  return static_cast<la_ssize_t>(next.size());
}

class Unpacker {
 public:
  Unpacker(const std::string& path, const std::string& directory, pi::UniqueFd fd)
      : path_(path), directory_(directory), zstd_(std::move(fd)), reader_(archive_read_new()) {}

  pi::Result<ArchiveContent> run() {
    archive_read_support_format_tar(reader_.get());
    if (archive_read_open(reader_.get(), &zstd_, nullptr, read_from_zstd, nullptr) != ARCHIVE_OK)
      note_damage();
    while (content_.damage.empty()) {
      auto more = member();
      if (!more) return more.error();
      if (!*more) break;
    }
    // The checksum is at the very end.
    while (content_.damage.empty() && !zstd_.next().empty()) {
    }
    if (content_.damage.empty()) content_.damage = zstd_.error();
    if (!content_.trace || !content_.symbols)
      return failed(
          content_.damage.empty()
              ? "is no archive of a trace (post --archive writes them)"
              : fmt::format("is no archive of a trace, or damaged before the trace begins "
                            "({})",
                            content_.damage));
    if (packages_)
      if (const auto text = pi::read_text_file(packages_.get(), packages_name, max_packages))
        content_.packages = parse_packages(*text);
    return std::move(content_);
  }

 private:
  pi::Error failed(const std::string& what) const {
    return {-1, fmt::format("{} {}.", path_, what)};
  }

  // An error of the zstd stream is the cause of libarchive's error.
  bool note_damage() {
    content_.damage = zstd_.error().empty() ? reason_of(reader_.get()) : zstd_.error();
    return false;
  }

  // Whether an archive may contain several of them.
  pi::Result<bool> member() {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(reader_.get(), &entry);
    if (result == ARCHIVE_EOF) return false;
    if (result != ARCHIVE_OK) return note_damage();
    const char* name = archive_entry_pathname(entry);
    const std::string_view known = name ? name : "";
    if (known == trace_name) return take(entry, max_trace, content_.trace);
    if (known == symbols_name) return take(entry, max_symbols, content_.symbols);
    if (known == packages_name) return take(entry, max_packages, packages_);
    if (const auto log = log_of_name(known)) {
      if (content_.logs.size() >= max_archived_logs && !content_.logs.contains(*log))
        return failed("has too many logs");
      return take(entry, max_symbols, content_.logs[*log]);
    }
    return skip();
  }

  pi::Result<bool> skip() {
    return archive_read_data_skip(reader_.get()) == ARCHIVE_OK || note_damage();
  }

  pi::Result<bool> take(archive_entry* entry, uint64_t limit, pi::UniqueFd& place) {
    const std::string name = archive_entry_pathname(entry);
    if (place) return failed(fmt::format("has {} twice; it was tampered with", name));
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
      return failed(
          fmt::format("has {} as something other than a file; it was tampered with", name));
    auto file = unnamed_file(directory_);
    if (!file) return file.error();
    const auto size = static_cast<uint64_t>(archive_entry_size(entry));
    if (!archive_entry_size_is_set(entry) || size > limit)
      return failed(fmt::format("has a {} of {} bytes, which is too large", name, size));
    struct statvfs system {};
    if (::fstatvfs(file->get(), &system) == 0 && size / system.f_frsize >= system.f_bavail)
      return failed(
          fmt::format("needs {} bytes to unpack its {}, for which {} has no space; choose another "
                      "directory with -o",
                      size, name, directory_));
    place = std::move(*file);
    const timespec time{archive_entry_mtime(entry), 0};
    auto more = copy(size, place.get());
    // Kept so that packing the trace again gives the same archive.
    const timespec times[] = {time, time};
    static_cast<void>(::futimens(place.get(), times));
    return more;
  }

  pi::Result<bool> copy(uint64_t size, int to) {
    std::vector<char> buffer(buffer_size);
    for (uint64_t done = 0;;) {
      const la_ssize_t got = archive_read_data(reader_.get(), buffer.data(), buffer.size());
      if (got == 0) return true;
      if (got < 0) return note_damage();
      done += static_cast<uint64_t>(got);
      if (done > size) return failed("has a member that is longer than it says");
      const int reason =
          pi::write_all(to, std::as_bytes(std::span(buffer).first(static_cast<size_t>(got))));
      if (reason != 0)
        return pi::Error{reason,
                         fmt::format("cannot unpack {} into {}: {}. Choose another directory "
                                     "with -o.",
                                     path_, directory_, std::strerror(reason))};
    }
  }

  const std::string& path_;
  const std::string& directory_;
  ZstdReader zstd_;
  std::unique_ptr<archive, FreeReader> reader_;
  ArchiveContent content_;
  pi::UniqueFd packages_;
};

la_ssize_t write_to_zstd(archive*, void* writer, const void* bytes, size_t size) {
  const bool good =
      static_cast<ZstdWriter*>(writer)->write({static_cast<const char*>(bytes), size});
  return good ? static_cast<la_ssize_t>(size) : -1;
}

class Packer {
 public:
  // Members that were created for the archive get the time of the trace, so that equal contents
  // give equal archives.
  Packer(Sink& sink, time_t time) : zstd_(sink), time_(time), writer_(archive_write_new()) {
    archive_write_set_format_pax_restricted(writer_.get());
    archive_write_open2(writer_.get(), &zstd_, nullptr, write_to_zstd, nullptr, nullptr);
  }

  pi::Status text(const char* name, std::string_view bytes) {
    struct stat status {};
    status.st_mode = S_IFREG | 0644;
    status.st_size = static_cast<off_t>(bytes.size());
    status.st_mtime = time_;
    if (!begin(name, status) || archive_write_data(writer_.get(), bytes.data(), bytes.size()) < 0)
      return failed();
    return {};
  }

  pi::Status made_file(const char* name, int fd) { return file(name, fd, time_); }

  pi::Status file(const std::string& name, int fd, std::optional<time_t> time = std::nullopt) {
    struct stat status {};
    if (::fstat(fd, &status) != 0)
      return pi::Error{errno, fmt::format("cannot pack {}: {}.", name, std::strerror(errno))};
    if (time) status.st_mtime = *time;
    if (!begin(name, status)) return failed();
    std::vector<char> buffer(buffer_size);
    const auto whole = static_cast<uint64_t>(status.st_size);
    for (uint64_t at = 0; at < whole;) {
      // If the file has grown meanwhile, the rest is left out: the header has the old size.
      const auto wanted = std::span(buffer).first(std::min<uint64_t>(buffer.size(), whole - at));
      const auto got = pi::read_at(fd, at, std::as_writable_bytes(wanted));
      if (got.error != 0 || got.bytes == 0)
        return pi::Error{got.error,
                         fmt::format("cannot pack {}: {}.", name,
                                     got.error == 0 ? "it became shorter while it was read"
                                                    : std::strerror(got.error))};
      if (archive_write_data(writer_.get(), buffer.data(), got.bytes) < 0) return failed();
      at += got.bytes;
    }
    return {};
  }

  pi::Status end() {
    if (archive_write_close(writer_.get()) != ARCHIVE_OK || !zstd_.finish()) return failed();
    return {};
  }

 private:
  // The archive does not contain the file's owner.
  bool begin(const std::string& name, const struct stat& status) {
    const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), status.st_mode & 0777);
    archive_entry_set_size(entry.get(), status.st_size);
    archive_entry_set_mtime(entry.get(), status.st_mtime, 0);
    return archive_write_header(writer_.get(), entry.get()) == ARCHIVE_OK;
  }

  pi::Status failed() {
    return pi::Error{-1,
                     fmt::format("the archive cannot be written: {}.", reason_of(writer_.get()))};
  }

  ZstdWriter zstd_;
  const time_t time_;
  std::unique_ptr<archive, FreeWriter> writer_;
};

// The name of a file of this machine in the archive.
std::string name_of_file(const std::string& path) {
  return files_folder + std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

bool is_archive(const std::string& path) {
  const auto file = pi::open_regular(path);
  std::array<unsigned char, sizeof zstd_magic> begin{};
  const auto bytes = std::as_writable_bytes(std::span(begin));
  return file && pi::read_at(file->fd.get(), 0, bytes).bytes == begin.size() &&
         std::memcmp(begin.data(), zstd_magic, begin.size()) == 0;
}

pi::Result<pi::UniqueFd> unnamed_file(const std::string& directory) {
  pi::UniqueFd fd = pi::unnamed_file(directory);
  if (!fd)
    return pi::Error{errno, fmt::format("cannot write to {}: {}. Choose another directory with -o.",
                                        directory, std::strerror(errno))};
  return fd;
}

pi::Result<ArchiveContent> unpack_archive(const std::string& path, const std::string& directory) {
  auto file = pi::open_regular(path);
  if (!file)
    return pi::Error{file.error().code,
                     fmt::format("cannot open {}: {}.", path, file.error().message)};
  return Unpacker(path, directory, std::move(file->fd)).run();
}

// The symbols are first: a truncated archive is then still useful.
pi::Status pack_archive(const ArchiveSources& sources, Sink& sink) {
  struct stat trace {};
  if (::fstat(sources.trace, &trace) != 0)
    return pi::Error{errno, fmt::format("the trace cannot be packed: {}.", std::strerror(errno))};
  Packer packer(sink, trace.st_mtime);
  pi::Status status = packer.text(readme_name, readme);
  if (status) status = packer.made_file(symbols_name, sources.symbols);
  if (status && !sources.packages.empty())
    status = packer.text(packages_name, packages_text(sources.packages));
  if (sources.logs.size() > max_archived_logs)
    return pi::Error{-1, fmt::format("there are {} logs of JIT-compiled code; an archive can "
                                     "contain {}.",
                                     sources.logs.size(), max_archived_logs)};
  for (const auto& [log, fd] : sources.logs)
    if (status) status = packer.file(archived_name(log), fd);
  if (status) status = packer.file(trace_name, sources.trace);
  for (size_t i = 0; i < sources.files.size() && status; ++i) {
    const auto file = sources.open_file(i);
    status = file ? packer.file(name_of_file(sources.files[i]), file->get()) : file.error();
  }
  return status ? packer.end() : status;
}

}  // namespace post
