// SPDX-License-Identifier: MIT
// Trace files that cost much more time or memory than their size.
#include <read/file_source.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pi/unique_fd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "effort.h"
#include "heap.h"
#include "read/nrm2_reader.h"
#include "record_builder.h"
#include "text_file.h"

namespace {

using namespace test_support;
using testing::HasSubstr;

// Headers without data, for every possible CPU; each has a section size beyond the file's end, the
// full flag and a lost record.
Bytes bare_headers(uint32_t count) {
  TraceBuilder one;
  one.section(pi::nrm2::section_trace, {.flags = pi::nrm2::flag_full, .lost = 1}, {});
  Bytes header = one.bytes();
  header.resize(pi::nrm2::header_size);
  const auto put = [&header](size_t at, uint32_t value) {
    std::memcpy(header.data() + at, &value, sizeof value);
  };
  put(pi::nrm2::offset::data_size, 0x7fffffff);
  Bytes bytes;
  bytes.reserve(count * header.size());
  for (uint32_t i = 0; i < count; ++i) {
    put(pi::nrm2::offset::cpu, i & 0xffff);
    put(pi::nrm2::offset::section_type,
        i < 0x10000 ? pi::nrm2::section_trace : pi::nrm2::section_mte);
    bytes.insert(bytes.end(), header.begin(), header.end());
  }
  return bytes;
}

TEST(PostAmplification, CostOfManyHeadersIsBoundedByTheirSize) {
  const Bytes bytes = bare_headers(60'000);
  post::MemorySource source(bytes);
  post::DamageLog damage;
  const Effort effort;
  const HeapPeak peak;
  const auto file = read_layout(source, damage);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->streams.size(), 60'000u);
  EXPECT_EQ(file->full.size(), 60'000u);
  EXPECT_EQ(file->header_lost.size(), 60'000u);
  EXPECT_EQ(damage.places(), 60'000u);
  EXPECT_LT(peak.bytes(), 2 * bytes.size());
  EXPECT_LT(effort.spent(), 60);
}

pi::UniqueFd sparse(off_t size) {
  pi::UniqueFd fd(::memfd_create("sparse", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(fd.get(), "NRM2", 4, 0), 4);
  if (::ftruncate(fd.get(), size) != 0) fd.reset();
  return fd;
}

TEST(PostAmplification, ASparseTraceIsRefused) {
  const auto source = post::FileSource::from_fd(sparse(off_t{1} << 42), "sparse.nrm2");
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message,
              testing::AllOf(HasSubstr("sparse.nrm2"), HasSubstr("are stored")));
  EXPECT_TRUE(post::FileSource::from_fd(sparse(off_t{1} << 20), "small.nrm2"));
}

TEST(PostAmplification, ASparseTextIsRefused) {
  const pi::UniqueFd fd = sparse(off_t{1} << 28);
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  const HeapPeak peak;
  const auto text = pi::read_text_file(path, size_t{1} << 29);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, testing::AllOf(HasSubstr(path), HasSubstr("holes")));
  EXPECT_LT(peak.bytes(), 1u << 20);
}

}  // namespace
