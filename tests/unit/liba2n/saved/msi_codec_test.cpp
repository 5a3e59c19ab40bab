// SPDX-License-Identifier: MIT
// The contents of MSI blocks: round trips, and hostile bytes that a checksum cannot detect.
#include "input_stride.h"
#include "saved/msi_codec.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

namespace {

using namespace a2n;

SymbolTable table(uint64_t base) {
  SymbolTableBuilder builder;
  std::vector<std::string> names;
  for (uint64_t i = 0; i < 40; ++i) names.push_back("function_" + std::to_string(i));
  for (uint64_t i = 0; i < names.size(); ++i)
    builder.add(base + 0x40 * i, i % 3 == 0 ? 0 : 0x30 + 0x20 * (i % 2), names[i], Binding::global,
                true);
  return builder.build({{base, base + 0x10000}});
}

SavedModule module() {
  auto content = std::make_shared<ModuleSymbols>();
  content->usable = true;
  content->exact_offsets = true;
  content->segments = {{0x1000, 0x401000, 0x2000, 0x2000, true},
                       {0, 0x400000, 0x800, 0x800, false}};
  content->sections = {{{0x401000, 0x401100}, ".plt", true, true},
                       {{0x401100, 0x402000}, ".text", true, false}};
  content->symbols = table(0x401100);
  return {"/usr/lib/libx.so", "0123abcd", 77, 0, {"a note"}, content};
}

SavedKernel kernel() {
  KernelSymbols symbols(
      "ffffffff81000000 T _stext\nffffffff81000000 T first\nffffffff81000100 t second\n"
      "ffffffff81000200 T _etext\nffffffffc0201000 t read\t[ext4]\n",
      "ext4 12288 1 - Live 0xffffffffc0201000\n");
  return {std::move(symbols), KernelImage{table(0xffffffff81000000), 0x1000}, {"note"}};
}

// Uses decoded data as lookups do; results must be inside their section or symbol.
void use(const SavedModule& saved) {
  const ModuleSymbols& content = *saved.content;
  for (const uint64_t offset : {uint64_t{0}, uint64_t{0x1000}, UINT64_MAX})
    static_cast<void>(content.bias(0x7f0000001000, 0x2000, offset));
  for (uint64_t at = 0x400f00; at < 0x402100; at += 0x13) {
    const Section* section = content.section(at);
    ASSERT_TRUE(!section || section->range.contains(at));
    const Symbol* symbol = content.symbols.find(at);
    ASSERT_TRUE(!symbol || at - symbol->start < symbol->size);
    const Symbol* before = content.symbols.before(at);
    ASSERT_TRUE(!before || *content.symbols.name(*before) != 0);
  }
}

void use(const SavedKernel& saved) {
  for (uint64_t at = 0xffffffff80ffff00; at < 0xffffffff81000300; at += 0x13) {
    const auto found = saved.symbols.find(at);
    ASSERT_TRUE(!found.symbol || *saved.symbols.name(*found.symbol) != 0);
    ASSERT_TRUE(!found.symbol || found.module);
    if (saved.image) {
      static_cast<void>(saved.image->symbols.find(at - saved.image->shift));
    }
  }
}

TEST(MsiCodec, AModuleIsRestored) {
  const SavedModule before = module();
  const std::string bytes = encode_module(before);
  const auto after = decode_module(bytes);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->path, before.path);
  EXPECT_EQ(after->build_id, before.build_id);
  EXPECT_EQ(after->inode, before.inode);
  EXPECT_EQ(after->notes, before.notes);
  EXPECT_EQ(after->content->segments.size(), 2u);
  EXPECT_TRUE(after->content->sections[0].plt);
  for (uint64_t at = 0x400f00; at < 0x402100; ++at) {
    const Symbol* expected = before.content->symbols.find(at);
    const Symbol* got = after->content->symbols.find(at);
    ASSERT_EQ(got == nullptr, expected == nullptr);
    if (!got) continue;
    EXPECT_EQ(got->start, expected->start);
    EXPECT_EQ(got->size, expected->size);
    EXPECT_EQ(got->size_guessed, expected->size_guessed);
    EXPECT_STREQ(after->content->symbols.name(*got), before.content->symbols.name(*expected));
  }
  // Equal contents are encoded as equal bytes.
  EXPECT_EQ(encode_module(*after), bytes);
}

TEST(MsiCodec, FunctionsAreRestoredAndDamagedOnesRefused) {
  SavedModule with = module();
  auto content = std::make_shared<ModuleSymbols>(*with.content);
  content->functions = {{0x401100, 0x10}, {0x401200, 0xffffffff}, {0xffffffffffffff00, 1}};
  with.content = content;
  const std::string bytes = encode_functions(with);
  const auto after = decode_functions(bytes);
  ASSERT_TRUE(after);
  ASSERT_EQ(after->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*after)[i].start, content->functions[i].start);
    EXPECT_EQ((*after)[i].size, content->functions[i].size);
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(decode_functions(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decode_functions(bytes + "x"));
  EXPECT_FALSE(decode_functions({"\2\5\1\0\1", 5})) << "two functions at one address";
  EXPECT_EQ(decode_module(encode_module(with), *after)->content->function(0x40110f)->start,
            0x401100u);
  EXPECT_EQ(encode_module(with), encode_module(module())) << "earlier versions read modules";
}

TEST(MsiCodec, AKernelAndAnImageAreRestored) {
  const std::string bytes = encode_kernel(kernel());
  const auto after = decode_kernel(bytes);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->symbols.stext(), 0xffffffff81000000);
  const auto found = after->symbols.find(0xffffffffc0201010);
  ASSERT_TRUE(found.symbol);
  EXPECT_EQ(found.module->name, "ext4");
  EXPECT_EQ(encode_kernel(*after), bytes);
  const KernelSource image{"/boot/vmlinux", "aa", 0xffffffff81000000, table(0xffffffff81000000)};
  const auto image_after = decode_kernel_image(encode_kernel_image(image));
  ASSERT_TRUE(image_after);
  EXPECT_EQ(image_after->name, image.name);
  EXPECT_EQ(image_after->stext, image.stext);
  EXPECT_EQ(image_after->symbols.size(), image.symbols.size());
}

TEST(MsiCodec, TruncatedOrExtendedBytesAreRefused) {
  const std::string bytes = encode_module(module());
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(decode_module(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decode_module(bytes + "x"));
  const std::string kernel_bytes = encode_kernel(kernel());
  for (size_t size = 0; size < kernel_bytes.size(); ++size)
    ASSERT_FALSE(decode_kernel(kernel_bytes.substr(0, size))) << size;
}

TEST(MsiCodec, ImpossibleCountsAreRefusedWithoutAllocation) {
  // A module with 2^32 segments, and a number that does not fit 64 bits.
  EXPECT_FALSE(decode_module(std::string("\1x\0\0\0\0\1\1\0\1\xff\xff\xff\xff\x0f", 15)));
  EXPECT_FALSE(decode_module(std::string(12, '\xff')));
  EXPECT_FALSE(decode_kernel(std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10)));
}

TEST(MsiCodec, DamagedBytesAreHandled) {
  std::mt19937 random(13);
  const std::string module_bytes = encode_module(module());
  const std::string kernel_bytes = encode_kernel(kernel());
  size_t survived = 0;
  for (size_t i = 0; i < test_support::rounds(20000); ++i) {
    std::string bytes = i % 2 ? module_bytes : kernel_bytes;
    for (unsigned k = 0; k < 1 + random() % 4; ++k) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] ^= static_cast<char>(1 << random() % 8);
          break;
        case 2:
          bytes.insert(at, 1 + random() % 9, static_cast<char>(random() % 2 ? 0xff : 0));
          break;
        default:
          bytes.erase(at, 1 + random() % 5);
      }
      if (bytes.empty()) bytes = "x";
    }
    if (i % 2) {
      if (const auto saved = decode_module(bytes)) use(*saved), ++survived;
    } else if (const auto saved = decode_kernel(bytes)) {
      use(*saved), ++survived;
    }
  }
  // Without any valid input the test would check nothing.
  EXPECT_GT(survived, 100u);
}

}  // namespace
