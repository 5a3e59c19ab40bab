// SPDX-License-Identifier: MIT
// The kernel's machine code as it ran, for the pages that an instruction trace touched.
#include "kernel_code.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <pi/decode.h>
#include <pi/files.h>
#include <pi/nrm2.h>
#include <pitrace/abi.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr uint64_t page_bytes = 4096;
constexpr size_t max_pages = 16384;  // 64 MB: more than the code of a kernel

bool is_kernel(uint64_t address) {
  return address >> 63 != 0;
}

uint64_t wide(uint32_t low, uint32_t high) {
  return static_cast<uint64_t>(high) << 32 | low;
}

template <class T>
bool read_items(int fd, uint64_t offset, T* into, size_t count) {
  const auto items = std::as_writable_bytes(std::span(into, count));
  return read_at(fd, offset, items).bytes == items.size();
}

// Stretches of consecutive pages, in the layout of the section.
class Stretches {
 public:
  void add(uint64_t page, const std::string& bytes) {
    if (page != end_) begin(page);
    text_ += bytes;
    end_ = page + page_bytes;
    const uint64_t size = end_ - start_;
    std::memcpy(text_.data() + head_ + nrm2::code::size, &size, sizeof size);
  }
  std::string take() { return std::move(text_); }

 private:
  void begin(uint64_t page) {
    head_ = text_.size();
    start_ = page;
    text_.append(nrm2::code::head_size, '\0');
    std::memcpy(text_.data() + head_ + nrm2::code::address, &page, sizeof page);
  }

  std::string text_;
  size_t head_ = 0;
  uint64_t start_ = 0;
  uint64_t end_ = 1;  // no page's address
};

}  // namespace

void KernelCode::touch(uint64_t address) {
  const uint64_t page = address & ~(page_bytes - 1);
  uint64_t& recent = recent_[page / page_bytes % recent_pages];
  if (recent == page || !is_kernel(address)) return;
  recent = page;
  if (pages_.size() >= max_pages) return;
  if (pages_.empty()) open();
  const auto [place, is_new] = pages_.try_emplace(page);
  if (is_new) place->second = read_page(page);
}

void KernelCode::open() {
  const std::string path = proc_ + "/kcore";
  const auto fail = [&](const std::string& why) { trouble_ = fmt::format("{} ({})", path, why); };
  kcore_ = ProcessFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!kcore_) return fail(errno_text(errno));
  Elf64_Ehdr header{};
  if (!read_items(kcore_.get(), 0, &header, 1) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return fail("it lists no memory");
  std::vector<Elf64_Phdr> all(header.e_phnum);
  if (!read_items(kcore_.get(), header.e_phoff, all.data(), all.size()))
    return fail("it lists no memory");
  for (const auto& each : all)
    if (each.p_type == PT_LOAD) segments_.push_back({each.p_vaddr, each.p_memsz, each.p_offset});
  if (segments_.empty()) fail("it lists no memory");
}

// Empty when no segment contains the page.
std::string KernelCode::read_page(uint64_t page) const {
  for (const auto& each : segments_) {
    if (page < each.start || page - each.start + page_bytes > each.size) continue;
    std::string bytes(page_bytes, '\0');
    if (read_items(kcore_.get(), each.offset + (page - each.start), bytes.data(), bytes.size()))
      return bytes;
  }
  return {};
}

// Reads only ITrace's records with addresses; BRANCH_USER too, since a system call branches to the
// kernel.
void KernelCode::see(std::span<const std::byte> records) {
  for (size_t place = 0; place < records.size();) {
    const RecordView record(records.subspan(place));
    if (!record.valid()) return;
    place += record.length();
    const auto ints = [&](uint32_t index) { return record.int_at(index); };
    switch (record.major()) {
      case PITRACE_MAJOR_BRANCH_KERNEL:
      case PITRACE_MAJOR_BRANCH_USER:
        if (record.int_count() < 3) break;
        touch(wide(record.minor(), ints(0)));
        touch(wide(ints(1), ints(2)));
        break;
      case PITRACE_MAJOR_CUT_KERNEL:
        if (record.int_count() >= 3) touch(wide(ints(1), ints(2)));
        break;
      case PITRACE_MAJOR_ITRACE_GAP:
        if (record.int_count() >= 5) touch(wide(ints(3), ints(4)));
        break;
      default:
        break;
    }
  }
}

Result<std::string> KernelCode::text() const {
  Stretches stretches;
  for (const auto& [page, bytes] : pages_)
    if (!bytes.empty()) stretches.add(page, bytes);
  std::string text = stretches.take();
  if (!text.empty()) return text;
  const std::string why =
      trouble_.empty() ? fmt::format("{}/kcore (it has none of the pages)", proc_) : trouble_;
  return Error{PU_ERROR_FILE,
               fmt::format("The kernel's code is not in the trace: {}. Root can read it, unless "
                           "the kernel is locked down. Without it instructions of the kernel are "
                           "not disassembled, or as its files have them.",
                           why)};
}

std::string code_or_note(const KernelCode& code, InfoText& info) {
  if (code.empty()) return "";
  auto text = code.text();
  if (text) return std::move(*text);
  info.add(nrm2::info::note, text.error().message);
  return "";
}

}  // namespace pi::perfutil
