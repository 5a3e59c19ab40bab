// SPDX-License-Identifier: MIT
// Split units in unusual or hostile files: each is found once, with a budget by the size of the
// files in use.
#include <gmock/gmock.h>

#include "built_file.h"
#include "constants.h"
#include "dwarf_builder.h"

namespace {

using namespace dwarf_builder;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

using Names = std::vector<std::string>;

using test::MiB;
constexpr double max_effort = 30;  // without the limits, each lookup would take minutes

class SplitUnits : public BuiltFile {
 protected:
  // A skeleton of DWARF 5 that names a .dwo file.
  static std::string skeleton_of(uint64_t id, const std::string& file) {
    return unit5(skeleton, id, '\x01' + file + '\0');
  }
  static DebugSection skeleton_kinds() {
    return {".debug_abbrev", abbreviation(1, 0x11, false, {{0x76, 0x08}}) + '\0'};
  }

  // A split unit with an inlined function at an offset of the code.
  static std::string split_of(uint64_t id, uint64_t offset) {
    return unit5(split, id, "\x01\x02"s + raw(code + offset) + '\1' + '\0');
  }
  static DebugSection split_kinds() {
    return {".debug_abbrev.dwo", abbreviation(1, 0x11, true, {}) +
                                     abbreviation(2, 0x1d, false, {{0x11, 0x01}, {0x12, 0x0b}}) +
                                     '\0'};
  }
  void write_split(const std::string& name, const std::string& units) {
    write(name, with_sections({split_kinds(), {".debug_info.dwo", units}}));
  }
};

TEST_F(SplitUnits, UnitsOfOneFileNeedNotBeConsecutive) {
  std::string skeletons;
  for (uint64_t id = 1; id <= 4; ++id)
    skeletons += skeleton_of(id, id % 2 ? "odd.dwo" : "even.dwo");
  write_and_map(with_sections({skeleton_kinds(), {".debug_info", skeletons}}));
  write_split("odd.dwo", split_of(1, 1) + split_of(3, 3));
  write_split("even.dwo", split_of(2, 2) + split_of(4, 4));
  for (uint64_t at = 1; at <= 4; ++at) EXPECT_THAT(frames_at(at), ElementsAre("?? 0", "nnnn 0"));
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(SplitUnits, WithDuplicateIdsAreNoted) {
  write_and_map(with_sections(
      {skeleton_kinds(), {".debug_info", skeleton_of(1, "a.dwo") + skeleton_of(1, "b.dwo")}}));
  write_split("a.dwo", split_of(1, 1));
  EXPECT_THAT(frames_at(1), ElementsAre("?? 0", "nnnn 0"));
  EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr(path_), HasSubstr("1 of 2 .dwo files"),
                                         HasSubstr("b.dwo (another unit has the same id)"))));
}

// Link-time optimization writes many units into one file.
TEST_F(SplitUnits, AFileIsNotSearchedForEachSkeleton) {
  constexpr uint64_t count = 60'000;
  std::string skeletons, units;
  for (uint64_t id = 1; id <= count; ++id) {
    skeletons += skeleton_of(id, "a.dwo");
    units += split_of(id, id % 1024);
  }
  write_and_map(with_sections({skeleton_kinds(), {".debug_info", skeletons}}));
  write_split("a.dwo", units);
  EXPECT_LT(effort_of_lookup(), max_effort);
  EXPECT_THAT(frames_at(1023), ElementsAre("?? 0", "nnnn 0"));
  EXPECT_THAT(notes(), IsEmpty());
}

// A package index (.dwp) in which all rows refer to the same bytes.
std::string index_of_same_bytes(uint32_t units, uint32_t info_size, uint32_t kinds_size) {
  uint32_t slots = 1;
  while (slots < units * 3 / 2) slots *= 2;
  std::vector<uint64_t> ids(slots);
  std::vector<uint32_t> rows(slots);
  for (uint32_t id = 1; id <= units; ++id) ids[id] = rows[id] = id;
  std::string index;
  for (const uint32_t number : {5u, 2u, units, slots}) index += raw(number);
  for (const uint64_t id : ids) index += raw(id);
  for (const uint32_t row : rows) index += raw(row);
  index += raw(uint32_t{1}) + raw(uint32_t{3});  // .debug_info, .debug_abbrev
  index += std::string(8 * size_t{units}, '\0');
  for (uint32_t unit = 0; unit < units; ++unit) index += raw(info_size) + raw(kinds_size);
  return index;
}

TEST_F(SplitUnits, APackageWithManyRowsForTheSameBytesIsRefused) {
  constexpr uint32_t count = 60'000;
  std::string skeletons, units;
  for (uint32_t id = 1; id <= count; ++id) {
    skeletons += skeleton_of(id, "a.dwo");
    units += split_of(id, 1);
  }
  write_and_map(with_sections({skeleton_kinds(), {".debug_info", skeletons}}));
  const auto kinds = split_kinds();
  const auto index = index_of_same_bytes(count, static_cast<uint32_t>(units.size()),
                                         static_cast<uint32_t>(kinds.bytes.size()));
  write("built.so.dwp",
        with_sections({kinds, {".debug_info.dwo", units}, {".debug_cu_index", index}}));
  EXPECT_LT(effort_of_lookup(), max_effort);
  EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr(path_), HasSubstr("read too often"))));
}

TEST_F(SplitUnits, UnitsInAPackageWithTwoRowsForTheSameBytesAreFound) {
  write_and_map(with_sections(
      {skeleton_kinds(), {".debug_info", skeleton_of(1, "a.dwo") + skeleton_of(2, "a.dwo")}}));
  const auto kinds = split_kinds();
  const std::string units = split_of(1, 1) + split_of(2, 2);
  write("built.so.dwp",
        with_sections(
            {kinds,
             {".debug_info.dwo", units},
             {".debug_cu_index", index_of_same_bytes(2, static_cast<uint32_t>(units.size()),
                                                     static_cast<uint32_t>(kinds.bytes.size()))}}));
  EXPECT_THAT(frames_at(1), ElementsAre("?? 0", "nnnn 0"));
  EXPECT_THAT(frames_at(2), ElementsAre("?? 0", "nnnn 0"));
  EXPECT_THAT(notes(), IsEmpty());
}

// The names of the inlined functions overlap and need more memory than the module's budget.
TEST_F(SplitUnits, ARefusedFileDoesNotIncreaseTheBudget) {
  constexpr uint32_t functions = 14;
  std::string entries = "\1", places;
  for (uint32_t i = 0; i < functions; ++i) {
    entries += '\2' + raw(i);
    places += '\3' + raw(12 + 5 * i) + raw(code + 4 * i) + '\1';
  }
  const std::string kinds =
      abbreviation(1, 0x11, true, {}) + abbreviation(2, 0x2e, false, {{0x03, 0x0e}}) +
      abbreviation(3, 0x1d, false, {{0x31, 0x13}, {0x11, 0x01}, {0x12, 0x0b}});
  // The skeleton's abbreviation is the last one.
  const std::string all_kinds = kinds + abbreviation(4, 0x11, false, {{0x76, 0x08}}) + '\0';
  write_and_map(with_sections(
      {{".debug_abbrev", all_kinds},
       {".debug_info", unit5(skeleton, 1, "\4other.dwo\0"s) + unit4(entries + places + '\0')},
       {".debug_str", std::string(2 * MiB, 'n') + '\0'}}));
  write("other.dwo", with_sections({split_kinds(),
                                    {".debug_info.dwo", split_of(2, 1)},
                                    {".debug_loc.dwo", std::string(16 * MiB, '\0')}}));
  EXPECT_THAT(frames_at(0), ElementsAre("nnnn 0"));
  EXPECT_THAT(notes(), Contains(AllOf(HasSubstr(path_), HasSubstr("take more than"))));
}

// The first two files exceed the budget, so the third one, which would match, is not read.
TEST_F(SplitUnits, ManyRefusedFilesAreLimited) {
  std::string skeletons;
  for (uint64_t id = 1; id <= 3; ++id) skeletons += skeleton_of(id, std::to_string(id) + ".dwo");
  write_and_map(with_sections({skeleton_kinds(), {".debug_info", skeletons}}));
  for (const char* name : {"1.dwo", "2.dwo"})
    write(name, with_sections({split_kinds(),
                               {".debug_info.dwo", split_of(7, 1)},
                               {".debug_loc.dwo", std::string(12 * MiB, '\0')}}));
  write_split("3.dwo", split_of(3, 3));
  EXPECT_THAT(frames_at(3), ElementsAre("nnnn 0"));
  EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr(path_), HasSubstr("3 of 3 .dwo files"),
                                         HasSubstr("1.dwo: it is of another build"))));
}

// ---- skeletons of DWARF 4, which has no unit type for them ----

class Dwarf4Skeletons : public SplitUnits {
 protected:
  // Writes a skeleton that describes inlined functions itself, as with clang
  // -fsplit-dwarf-inlining.
  void write_skeleton() {
    const std::string kinds =
        abbreviation(1, 0x11, true, {{0x2130, 0x08}, {0x2131, 0x07}, {0x10, 0x17}}) +
        abbreviation(2, 0x1d, false, {{0x11, 0x01}, {0x12, 0x0b}, {0x59, 0x0b}}) + '\0';
    const std::string root = "\1a.dwo\0"s + raw(uint64_t{1}) + raw(uint32_t{0});
    const std::string inlined = '\2' + raw(code + 2) + "\1\7"s;
    write_and_map(with_sections({{".debug_abbrev", kinds},
                                 {".debug_info", unit4(root + inlined + '\0')},
                                 {".debug_line", lines4(sequence(code, "\3\4\1\2\x10"s))}}));
  }
};

TEST_F(Dwarf4Skeletons, MayHaveEntries) {
  write_skeleton();
  const std::string kinds = abbreviation(1, 0x11, true, {{0x2131, 0x07}}) +
                            abbreviation(2, 0x1d, false, {{0x11, 0x01}, {0x12, 0x0b}}) + '\0';
  const std::string inlined = '\2' + raw(code + 1) + '\1';
  write("a.dwo",
        with_sections({{".debug_abbrev.dwo", kinds},
                       {".debug_info.dwo", unit4('\1' + raw(uint64_t{1}) + inlined + '\0')}}));
  EXPECT_THAT(frames_at(0), ElementsAre("nnnn 5"));
  EXPECT_THAT(frames_at(1), ElementsAre("?? 5", "nnnn 0")) << "of the split unit";
  EXPECT_THAT(frames_at(2), ElementsAre("nnnn 5")) << "the entries of the skeleton are not used";
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(Dwarf4Skeletons, AreUsedIfTheirFileIsMissing) {
  write_skeleton();
  EXPECT_THAT(frames_at(0), ElementsAre("nnnn 5"));
  EXPECT_THAT(frames_at(2), ElementsAre("?? 5", "nnnn 7"));
  EXPECT_THAT(notes(), ElementsAre(AllOf(HasSubstr(path_), HasSubstr("1 of 1 .dwo files"))));
}

}  // namespace
