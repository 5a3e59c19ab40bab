// SPDX-License-Identifier: MIT
// The only encoder and decoder of the blocks of an MSI file. The decoded bytes are untrusted.
// Numbers are LEB128 (7 bits per byte, lowest first, bit 7 set in all bytes but the last). A text
// is its length, then its bytes.
#ifndef A2N_MSI_CODEC_H
#define A2N_MSI_CODEC_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "saved_symbols.h"

namespace a2n {

std::string encode_module(const SavedModule& module);
// The functions of the module, for the block before it.
std::string encode_functions(const SavedModule& module);
std::string encode_kernel(const SavedKernel& kernel);
std::string encode_kernel_image(const KernelSource& image);

// Nullopt if the bytes are not exactly one valid object.
std::optional<SavedModule> decode_module(std::string_view bytes,
                                         std::vector<FunctionRange> functions = {});
std::optional<std::vector<FunctionRange>> decode_functions(std::string_view bytes);
std::optional<SavedKernel> decode_kernel(std::string_view bytes);
std::optional<KernelSource> decode_kernel_image(std::string_view bytes);

}  // namespace a2n

#endif  // A2N_MSI_CODEC_H
