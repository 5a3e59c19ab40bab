// SPDX-License-Identifier: MIT
// The blocks of an MSI file, from and to bytes: the only encoder and the only decoder. Every byte
// to be decoded is hostile. Numbers are little-endian base-128 (7 bits a byte, the lowest first,
// bit 7 set on all but the last); a text is its length and its bytes.
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

// Nothing when the bytes are not exactly one such thing, or make no sense.
std::optional<SavedModule> decode_module(std::string_view bytes,
                                         std::vector<FunctionRange> functions = {});
std::optional<std::vector<FunctionRange>> decode_functions(std::string_view bytes);
std::optional<SavedKernel> decode_kernel(std::string_view bytes);
std::optional<KernelSource> decode_kernel_image(std::string_view bytes);

}  // namespace a2n

#endif  // A2N_MSI_CODEC_H
