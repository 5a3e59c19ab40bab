// SPDX-License-Identifier: MIT
// Finds the file of a traced module and its separate debug file, and rejects files that differ from
// the traced one.
#include "module_loader.h"

#include <fcntl.h>
#include <pi/files.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/running_process.h"
#include "build_id.h"
#include "debug_search.h"

namespace a2n {
namespace {

constexpr std::string_view deleted_mark = " (deleted)";
constexpr uint64_t max_linked_file = uint64_t{8} << 30;  // bytes that the checksum must read

std::string describe(const std::string& build_id) {
  return build_id.empty() ? std::string("none") : build_id;
}

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%" PRIx64, value);
  return text;
}

class Loader {
 public:
  Loader(const ModuleRequest& request, ReadFiles& files, Notes& notes)
      : request_(request), files_(files), notes_(notes) {
    path_ = request.path;
    deleted_ = path_.ends_with(deleted_mark);
    if (deleted_) path_.resize(path_.size() - deleted_mark.size());
    // System V shared memory and anonymous inodes have no file on disk.
    const std::string& path = path_;
    has_no_file_ = path.starts_with("/SYSV") || path.starts_with("/anon_");
  }

  std::shared_ptr<const ModuleSymbols> load() {
    if (has_no_file_) return std::make_shared<const ModuleSymbols>();
    const auto mapped = find_mapped();
    const bool complete = mapped && files_.has_symtab(*mapped) && mapped->layout().has_dwarf;
    const auto debug = complete ? std::nullopt : find_debug(mapped ? &*mapped : nullptr);
    if (!mapped && !debug && !refusal_.empty()) notes_.add(refusal_);
    const auto module = read(mapped ? &*mapped : nullptr, debug ? &*debug : nullptr);
    for (const std::string& refused : module->refused) notes_.add(refused);
    return module;
  }

  pi::Result<pi::UniqueFd> open() {
    const auto mapped = has_no_file_ ? std::nullopt : find_mapped();
    if (!mapped)
      return pi::Error{is_absent_ || refusal_.empty() ? ENOENT : ESTALE,
                       refusal_.empty() ? path_ + ": no file" : refusal_};
    pi::UniqueFd fd(::fcntl(mapped->fd(), F_DUPFD_CLOEXEC, 0));
    if (!fd) return pi::Error{errno, path_ + ": no descriptor for it"};
    return fd;
  }

 private:
  std::shared_ptr<const ModuleSymbols> read(const ElfFile* mapped, const ElfFile* debug) {
    auto module = files_.read(mapped, debug, request_.search);
    if (module) return *module;
    notes_.add(request_.path + ": " + module.error().message);
    return mapped && debug ? read(mapped, nullptr) : std::make_shared<const ModuleSymbols>();
  }

  bool traced_id_is_hex() const { return request_.build_id && identifies(*request_.build_id); }

  // Sets the reason why the mapped file is not used. A reason found at the mapped path replaces one
  // found in a search directory.
  void refuse(const std::string& reason) { refusal_ = request_.path + ": " + reason; }

  std::optional<ElfFile> find_mapped() {
    if (request_.build_id && is_unknown(*request_.build_id) && request_.validate &&
        !path_.starts_with("/memfd:")) {
      refuse(
          request_.build_id == "!"
              ? "it was not in the recorder's view of the file system: its process saw other "
                "files (chroot, container, private mount), or it was deleted; symbols not used "
                "(without validation they are taken from the symbol search path)"
              : "it changed or vanished while it was traced, or the recorder could not read it in "
                "time; symbols not used");
      return std::nullopt;
    }
    // Without a build-id nothing proves that a file of that name is the deleted one.
    if (!deleted_ || traced_id_is_hex() || !request_.validate) {
      for (const std::string& file : module_files(request_.search, path_)) {
        if (auto elf = open_if_traced(file, true)) return elf;
      }
    }
    if (deleted_ && request_.validate) {
      refuse(
          path_.starts_with("/memfd:")
              ? "a file in memory, which no living process has any more; symbols not used"
              : "the file was deleted when it was traced; symbols not used (they would be from a "
                "copy with the traced build-id in the symbol search path)");
      return find_at_processes();
    }
    if (!path_.starts_with('/')) return std::nullopt;
    if (auto elf = open_if_traced(path_, false)) return elf;
    return find_at_processes();
  }

  // The file as a process that mapped it still sees it, if the build-id matches: a user can give
  // any file any build-id, so a later process with the same id, which can be another user's, is not
  // asked. It is checked after the file was opened: then the traced process had the id until then.
  // Keeps refusal_, which is the reason for the path.
  std::optional<ElfFile> find_at_processes() {
    if (!traced_id_is_hex()) return std::nullopt;
    for (const ModuleMapping& mapping : request_.mappings) {
      const std::string process = "/proc/" + std::to_string(mapping.pid);
      auto elf =
          ElfFile::open(process + "/map_files/" + hex(mapping.begin) + "-" + hex(mapping.end));
      if (!is_of_process(elf, mapping) && !deleted_) elf = open_at_root(process + "/root" + path_);
      if (is_of_process(elf, mapping)) return std::move(*elf);
    }
    return std::nullopt;
  }

  bool is_of_process(const pi::Result<ElfFile>& elf, const ModuleMapping& mapping) const {
    return elf && elf->layout().build_id == *request_.build_id &&
           runs_since(mapping.pid, mapping.time);
  }

  // The process's user can place a link there, or mount a file that he may not read: the file must
  // be the mapped one.
  pi::Result<ElfFile> open_at_root(const std::string& file) const {
    auto opened = pi::open_regular(file, pi::Links::nowhere);
    if (!opened) return opened.error();
    auto elf = ElfFile::from_fd(std::move(opened->fd), file);
    if (elf && is_another_inode(*elf)) return pi::Error{ESTALE, file + ": not the mapped file"};
    return elf;
  }

  std::optional<ElfFile> open_if_traced(const std::string& file, bool from_search) {
    if (file.starts_with("/dev/") && !file.starts_with("/dev/shm/")) return std::nullopt;
    auto elf = ElfFile::open(file);
    if (!elf) {
      if (!from_search) {
        is_absent_ = is_absent(elf.error());
        refusal_ = refusal_for(elf.error()) +
                   "; no symbols for it (name a directory that has the traced "
                   "file in the symbol search path)";
      }
      return std::nullopt;
    }
    const std::string& id = elf->layout().build_id;
    if (!request_.validate) {
      accept_unvalidated(file, *elf);
      return std::move(*elf);
    }
    if (request_.build_id && id != *request_.build_id) {
      if (!from_search || refusal_.empty()) {
        refusal_ = file + ": " + (from_search ? "it" : "the file of this path") + " has build-id " +
                   describe(id) + ", traced was " + describe(*request_.build_id) +
                   (from_search ? "" : ": " + reason_for_another_file(*elf)) + "; symbols not used";
      }
      return std::nullopt;
    }
    const bool identified = request_.build_id && !id.empty();
    const std::string why =
        request_.build_id ? "it has no build-id" : "the trace does not contain its build-id";
    if (!from_search && !identified && is_another_inode(*elf)) {
      refuse(why + ", and the file of that path is not the one that was mapped; symbols not used");
      return std::nullopt;
    }
    // A build-id identifies a file only among those of honest authors. A file of the process's own
    // root directory can have another one's path here.
    if (!from_search && identified && is_another_inode(*elf)) {
      if (has_symlink(*elf)) {
        refuse(
            "it is not the file that was mapped, and its path leads through a symbolic link now; "
            "symbols not used, although its build-id is the traced one");
        return std::nullopt;
      }
      notes_.add(file + ": not the file that was mapped, but one with the same build-id",
                 A2N_MESSAGES_INFO);
    }
    if (!from_search && !identified && has_symlink(*elf)) {
      refuse(why +
             ", and its path leads through a symbolic link now, which that of a mapped file never "
             "does; symbols not used");
      return std::nullopt;
    }
    if (!from_search && request_.inode != 0 && elf->inode() != request_.inode) {
      refuse("the file was replaced while it was traced; symbols not used");
      return std::nullopt;
    }
    return std::move(*elf);
  }

  static bool is_absent(const pi::Error& error) {
    return error.code == ENOENT || error.code == ENOTDIR;
  }

  // The recorder reads build-ids through the processes that have files mapped, so that a file with
  // one need not have been visible anywhere else.
  std::string refusal_for(const pi::Error& error) const {
    if (!is_absent(error) || !traced_id_is_hex()) return error.message;
    return request_.path +
           ": it is not here: it was removed since, or only its process saw it (chroot, container, "
           "private mount)";
  }

  std::string reason_for_another_file(const ElfFile& elf) const {
    return request_.mapped_inode != 0 && !is_another_inode(elf)
               ? "it was changed since"
               : "it was replaced since, or its process saw another file there (chroot, container, "
                 "private mount)";
  }

  bool is_another_inode(const ElfFile& elf) const {
    return request_.mapped_inode != 0 &&
           !pi::has_mapped_inode(elf.fd(), elf.inode(), request_.mapped_inode);
  }

  // The kernel reports the paths of mapped files without symbolic links. If the path now contains
  // one, it could lead to another user's file.
  bool has_symlink(const ElfFile& elf) const {
    std::string path(PATH_MAX, '\0');
    const std::string descriptor = "/proc/self/fd/" + std::to_string(elf.fd());
    const ssize_t length = ::readlink(descriptor.c_str(), path.data(), path.size());
    return length > 0 && path.substr(0, static_cast<size_t>(length)) != path_;
  }

  void accept_unvalidated(const std::string& file, const ElfFile& elf) {
    const std::string& id = elf.layout().build_id;
    const bool replaced = request_.inode != 0 && elf.inode() != request_.inode;
    if (!replaced && !deleted_ && (!request_.build_id || id == *request_.build_id)) return;
    notes_.add(file +
               ": used without validation, though it is not shown to be the traced file "
               "(build-id now " +
               describe(id) + ", traced " + describe(request_.build_id.value_or("unknown")) +
               "); its names may be wrong");
  }

  // Whether a debug file has data that the mapped file may lack.
  bool has_more(const ElfFile& file) { return file.layout().has_dwarf || files_.has_symtab(file); }

  // Searches by build-id, which identifies the file; else by the file name and checksum in
  // .gnu_debuglink; else asks a server, by build-id.
  std::optional<ElfFile> find_debug(const ElfFile* mapped) {
    const std::string id = mapped ? mapped->layout().build_id
                                  : (traced_id_is_hex() ? *request_.build_id : std::string());
    for (const std::string& file : build_id_files(request_.search, id)) {
      auto elf = ElfFile::open(file);
      if (elf && elf->layout().build_id == id && has_more(*elf)) return std::move(*elf);
    }
    if (mapped)
      if (auto linked = find_linked_debug(*mapped)) return linked;
    const bool named = mapped && files_.has_symtab(*mapped);
    return named || !request_.debuginfod ? std::nullopt : request_.debuginfod->find(id, path_);
  }

  // Searches by the name and the checksum that the file contains.
  std::optional<ElfFile> find_linked_debug(const ElfFile& mapped) {
    const ElfLayout& layout = mapped.layout();
    for (const std::string& file : debug_link_files(request_.search, path_, layout.debug_link)) {
      auto elf = ElfFile::open(file);
      if (!elf || !has_more(*elf)) continue;
      if (elf->size() > max_linked_file) {
        notes_.add(file + ": too big to be checked (more than 8 GiB); symbols not used");
        continue;
      }
      if (files_.checksum(*elf) == layout.debug_link_crc) return std::move(*elf);
      notes_.add(file + ": its checksum is not the one " + request_.path +
                 " names; symbols not used");
    }
    return std::nullopt;
  }

  const ModuleRequest& request_;
  ReadFiles& files_;
  Notes& notes_;
  std::string path_;  // without " (deleted)"
  bool deleted_ = false;
  bool has_no_file_ = false;
  bool is_absent_ = false;  // at its path
  std::string refusal_;
};

}  // namespace

std::shared_ptr<const ModuleSymbols> load_module(const ModuleRequest& request, ReadFiles& files,
                                                 Notes& notes) {
  return Loader(request, files, notes).load();
}

pi::Result<pi::UniqueFd> open_module(const ModuleRequest& request) {
  ReadFiles files;
  Notes notes;
  return Loader(request, files, notes).open();
}

}  // namespace a2n
