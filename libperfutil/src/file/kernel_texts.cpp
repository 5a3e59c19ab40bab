// SPDX-License-Identifier: MIT
// The kernel's symbols and modules, as text to be appended to a trace.
#include "kernel_texts.h"

#include <zstd.h>

#include <memory>
#include <utility>

#include "system/text.h"

namespace pi::perfutil {
namespace {

// A frame with a checksum; the text itself when it cannot be compressed.
std::string compressed(std::string text) {
  if (text.empty()) return text;
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  if (!context) return text;
  // The default level gives a fifth of the size, in some 20 ms.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), text.data(), text.size());
  if (ZSTD_isError(size)) return text;
  frame.resize(size);
  frame.shrink_to_fit();
  return frame;
}

}  // namespace

bool has_addresses(std::string_view kallsyms) {
  while (!kallsyms.empty()) {
    std::string_view line = next_word(kallsyms, '\n');
    if (next_word(line, ' ').find_first_not_of('0') != std::string_view::npos) return true;
  }
  return false;
}

KernelTexts read_kernel_texts(const std::string& proc) {
  return kernel_texts_of(read_text(proc + "/kallsyms", max_kernel_text).value_or(""),
                         read_text(proc + "/modules", max_kernel_text).value_or(""));
}

KernelTexts kernel_texts_of(std::string kallsyms, std::string modules) {
  KernelTexts texts;
  texts.kallsyms = std::move(kallsyms);
  texts.modules = compressed(std::move(modules));
  texts.kallsyms_state = "complete";
  if (texts.kallsyms.empty()) {
    texts.kallsyms_state = "missing";
  } else if (!has_addresses(texts.kallsyms)) {
    texts.kallsyms_state = "hidden";
    texts.kallsyms.clear();
  } else {
    texts.kallsyms = compressed(std::move(texts.kallsyms));
  }
  return texts;
}

}  // namespace pi::perfutil
