// SPDX-License-Identifier: MIT
// The report on heaps whose dominators, sizes and leaks are known.
#include <gmock/gmock.h>
#include <report/report.h>

#include <random>
#include <sstream>

#include "dump_builder.h"

namespace hdump {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr auto no_progress = [](const char*, uint64_t) {};

pi::Result<Report> try_report(const std::vector<std::byte>& bytes,
                              const ReportOptions& options = {}) {
  const auto space = DiskSpace::in("/tmp");
  if (!space) return space.error();
  return analyse(
      "a dump", [&]() -> pi::Result<std::unique_ptr<ByteStream>> { return memory_stream(bytes); },
      *space, options, no_progress);
}

Report report_on(const std::vector<std::byte>& bytes, const ReportOptions& options = {}) {
  auto report = try_report(bytes, options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  return std::move(*report);
}

const ClassRow* row_of(const Report& report, std::string_view name) {
  for (const ClassRow& row : report.classes)
    if (row.name == name) return &row;
  return nullptr;
}

enum Ids : uint64_t {
  object_class = 16,
  holder = 24,
  item = 32,
  array_class = 40,
  reference = 48,
  weak = 56,
  list = 0x1000,
  items = 0x2000
};

// A class that holds a list of `count` items, each with an array of 100 ints.
DumpBuilder leaking(size_t count) {
  DumpBuilder dump;
  dump.add_class(object_class, "java/lang/Object");
  dump.add_class(array_class, "[LItem;", object_class);
  dump.add_class(holder, "Holder", object_class, {}, {{"cache", list}});
  dump.add_class(item, "Item", object_class, {{"data", Type::object}, {"number", Type::int64}});
  for (const uint64_t id : {object_class, array_class, holder, item}) dump.add_root(id);
  std::vector<uint64_t> all;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t id = items + 0x400 * i;
    all.push_back(id);
    std::vector<std::byte> fields(16);
    for (size_t j = 0; j < 8; ++j) fields[j] = static_cast<std::byte>((id + 0x100) >> (56 - 8 * j));
    dump.add_object_bytes(id, item, fields);
    dump.add_primitives(id + 0x100, Type::int32, 100);
  }
  dump.add_array(list, array_class, all);
  return dump;
}

TEST(Report, SizesAreThoseOfHotSpot) {
  const Report report = report_on(leaking(10).finish());
  const ClassRow* row = row_of(report, "Item");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->objects, 10u);
  EXPECT_EQ(row->bytes, 10u * 24);  // 12 for the header, 4 for data, 8 for number
  EXPECT_EQ(row->retained, 10u * (24 + 416));
  EXPECT_EQ(row_of(report, "int[]")->bytes, 10u * 416);
  EXPECT_EQ(row_of(report, "Item[]")->bytes, 16u + 10 * 4);
  EXPECT_EQ(report.reachable_objects, report.objects);
}

// Sizes of 32-bit JVMs: a header of 8 bytes and references of 4.
TEST(Report, AnIdMayHaveFourBytes) {
  DumpBuilder dump(4);
  dump.add_class(object_class, "java/lang/Object");
  dump.add_class(item, "Item", object_class, {{"next", Type::object}, {"data", Type::object}});
  dump.add_object(0x1000, item, {0x2000, 0});
  dump.add_object(0x2000, item, {0, 0x3000});
  dump.add_primitives(0x3000, Type::int8, 100);
  dump.add_root(0x1000);
  const Report report = report_on(dump.finish());
  EXPECT_EQ(report.misfits, 0u);
  EXPECT_EQ(row_of(report, "Item")->bytes, 2u * 16);
  EXPECT_EQ(row_of(report, "Item")->retained, report.reachable_bytes);
  EXPECT_EQ(row_of(report, "byte[]")->retained, 112u);
}

// The file of another process, which writes to it.
TEST(Report, ADumpThatChangesWhileItIsReadIsRefused) {
  const auto of = [](unsigned id_size, size_t elements) {
    DumpBuilder dump(id_size);
    dump.add_class(array_class, "[LItem;");
    dump.add_array(0x1000, array_class, std::vector<uint64_t>(elements, 0x1000));
    dump.add_root(0x1000);
    return dump.finish();
  };
  const auto first = of(8, 3);
  for (const auto& second : {of(4, 3), of(8, 5)}) {
    const auto space = DiskSpace::in("/tmp");
    int reads = 0;
    const auto open = [&]() -> pi::Result<std::unique_ptr<ByteStream>> {
      return memory_stream(reads++ == 0 ? first : second);
    };
    const auto report = analyse("a dump", open, *space, {}, no_progress);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message, "it has changed while it was read.");
  }
}

TEST(Report, TheLeakIsFoundWithItsContentAndItsPath) {
  const Report report = report_on(leaking(1000).finish());
  ASSERT_EQ(report.suspects.size(), 1u);
  const SuspectRow& suspect = report.suspects[0];
  EXPECT_EQ(suspect.name, "Item[]");
  EXPECT_EQ(suspect.id, list);
  EXPECT_EQ(suspect.retained, 16 + 4000 + 1000 * (24 + 416));
  ASSERT_EQ(suspect.held.size(), 3u);
  EXPECT_EQ(suspect.held[0].name, "int[]");
  EXPECT_EQ(suspect.held[0].objects, 1000u);
  ASSERT_EQ(suspect.path.steps.size(), 2u);
  EXPECT_EQ(suspect.path.root, "system class");
  EXPECT_EQ(suspect.path.steps[0].name, "class Holder");
  EXPECT_EQ(suspect.path.steps[0].reference, "static cache");
  const std::string text = text_of(report, {});
  EXPECT_THAT(text, HasSubstr("One object of Item[] (0x1000) keeps 434 KB"));
  EXPECT_THAT(text, HasSubstr("int[] in 1000 objects"));
}

TEST(Report, ManyObjectsOfOneClassBelowTheRootsAreOneSuspect) {
  DumpBuilder dump;
  dump.add_class(object_class, "java/lang/Object");
  for (uint64_t i = 0; i < 100; ++i) {
    dump.add_primitives(0x1000 + 0x400 * i, Type::int8, 984);
    dump.add_root(0x1000 + 0x400 * i);
  }
  const Report report = report_on(dump.finish());
  ASSERT_EQ(report.suspects.size(), 1u);
  EXPECT_EQ(report.suspects[0].objects, 100u);
  EXPECT_EQ(report.suspects[0].name, "byte[]");
  EXPECT_EQ(report.suspects[0].retained, 100'000u);
}

TEST(Report, WeakReferencesKeepNothingAliveAndSoftOnesDo) {
  for (const bool is_weak : {true, false}) {
    DumpBuilder dump;
    dump.add_class(object_class, "java/lang/Object");
    dump.add_class(reference, "java/lang/ref/Reference", object_class,
                   {{"referent", Type::object}, {"queue", Type::object}});
    dump.add_class(weak, is_weak ? "java/lang/ref/WeakReference" : "java/lang/ref/SoftReference",
                   reference);
    dump.add_class(holder, "Sub", weak, {{"own", Type::object}});
    dump.add_object(0x1000, holder, {0x3000, 0x2000, 0x4000});
    dump.add_primitives(0x2000, Type::int8, 1);
    dump.add_primitives(0x3000, Type::int16, 1);
    dump.add_primitives(0x4000, Type::int32, 1);
    for (const uint64_t id : {uint64_t{0x1000}, uint64_t{object_class}, uint64_t{reference},
                              uint64_t{weak}, uint64_t{holder}})
      dump.add_root(id);
    const Report report = report_on(dump.finish());
    EXPECT_EQ(row_of(report, "Sub")->retained, is_weak ? 24u + 24 + 24 : 24u + 24 + 24 + 24);
    EXPECT_EQ(row_of(report, "byte[]")->retained, is_weak ? 0u : 24u);
  }
}

TEST(Report, AClassThatAnotherClassKeepsAliveIsOnTheWayToTheSuspect) {
  DumpBuilder dump;
  dump.add_class(object_class, "java/lang/Object");
  dump.add_class(item, "java/lang/Class", object_class);
  dump.add_class(holder, "Launcher", object_class, {}, {{"app", weak}});
  dump.add_class(weak, "App", object_class, {}, {{"all", list}});
  dump.add_array(list, array_class, std::vector<uint64_t>(1000, list));
  dump.add_class(array_class, "[LItem;", object_class);
  for (const uint64_t id : {object_class, item, holder, array_class}) dump.add_root(id);
  const Report report = report_on(dump.finish());
  ASSERT_EQ(report.suspects.size(), 1u);
  EXPECT_EQ(report.suspects[0].name, "Item[]");
  EXPECT_EQ(report.suspects[0].path.steps.size(), 3u);
}

TEST(Report, ALongListIsOneSuspectAndItsPathIsShortened) {
  DumpBuilder dump;
  dump.add_class(object_class, "java/lang/Object");
  dump.add_class(item, "Link", object_class, {{"next", Type::object}});
  constexpr uint64_t links = 100'000;
  for (uint64_t i = 0; i < links; ++i)
    dump.add_object(0x1000 + 16 * i, item, {i + 1 < links ? 0x1000 + 16 * (i + 1) : 0});
  for (const uint64_t id : {uint64_t{0x1000}, uint64_t{object_class}, uint64_t{item}})
    dump.add_root(id);
  dump.add_primitives(8, Type::int8, 1);
  ReportOptions options;
  options.lines = 1;
  options.paths_of = "L?nk";
  const Report report = report_on(dump.finish(), options);
  ASSERT_EQ(report.suspects.size(), 1u);
  EXPECT_EQ(report.suspects[0].id, 0x1000u);
  EXPECT_EQ(report.suspects[0].retained, links * 16);
  ASSERT_EQ(report.paths.size(), 1u);
  EXPECT_EQ(report.paths[0].steps.size(), 1u);
  ASSERT_EQ(report.ways.size(), 1u);
  EXPECT_EQ(report.ways[0].objects, links);
  EXPECT_EQ(report.objects - report.reachable_objects, 1u);  // the array
}

TEST(Report, ClassesThatAreTheirOwnSuperClassAreReported) {
  DumpBuilder dump;
  dump.add_class(16, "A", 24, {{"x", Type::object}});
  dump.add_class(24, "B", 16, {{"y", Type::object}});
  dump.add_object(0x1000, 16, {0x1000, 0x1000});
  dump.add_root(0x1000);
  const Report report = report_on(dump.finish());
  EXPECT_EQ(report.misfits, 1u);
  EXPECT_THAT(text_of(report, {}), HasSubstr("the references of 1 objects, as their class is"));
}

TEST(Report, ReferencesOutOfTheDumpAndEqualIdsAreCounted) {
  DumpBuilder dump;
  dump.add_class(16, "A", 0, {{"x", Type::object}});
  dump.add_object(0x1000, 16, {0x9999});
  dump.add_object(0x1000, 16, {0x1000});
  dump.add_object(0x800, 16, {0});
  dump.add_root(0x1000);
  const Report report = report_on(dump.finish());
  EXPECT_EQ(report.dangling, 1u);
  EXPECT_EQ(report.objects, 3u);
  EXPECT_EQ(report.damage.places, 1u);
  EXPECT_THAT(report.damage.messages[0], HasSubstr("1 objects have the id of another"));
}

TEST(Report, LinesOfItsHeadFitInto80Columns) {
  Report report;
  report.dangling = report.misfits = report.references = UINT32_MAX;
  report.facts.time_ms = 1'700'000'000'000;
  for (size_t kind = 0; kind < static_cast<size_t>(RootKind::count); ++kind)
    report.roots.emplace_back(root_name(static_cast<RootKind>(kind)), 12'345);
  for (const bool assumed : {false, true}) {
    report.roots_assumed = assumed;
    std::istringstream lines(text_of(report, {}));
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_GT(count, 10u);
  }
}

TEST(Report, WithoutRootsObjectsWithoutReferencesToThemAreRoots) {
  DumpBuilder dump;
  dump.add_class(16, "A", 0, {{"x", Type::object}});
  dump.add_object(0x1000, 16, {0x1010});
  dump.add_object(0x1010, 16, {0});
  const Report report = report_on(dump.finish());
  EXPECT_TRUE(report.roots_assumed);
  EXPECT_EQ(report.reachable_objects, 3u);
  EXPECT_EQ(report.largest[0].id, 0x1000u);
  EXPECT_THAT(text_of(report, {}), HasSubstr("not in the dump, whose end is missing"));
}

TEST(Report, AnObjectMayHaveNoClass) {
  DumpBuilder dump;
  dump.add_object(0x1000, 0, {});
  dump.add_root(0x1000);
  const Report report = report_on(dump.finish());
  EXPECT_EQ(report.misfits, 1u);
  EXPECT_EQ(report.classes[0].name, "class@0x0");
}

TEST(Report, ADumpWithoutObjectsIsRefused) {
  DumpBuilder dump;
  const auto report = try_report(dump.finish());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "it has no objects.");
}

TEST(Report, TheTextHasTheNamesOfArraysAsInJava) {
  EXPECT_EQ(java_name("[[Ljava/util/Map$Entry;"), "java.util.Map$Entry[][]");
  EXPECT_EQ(java_name("[J"), "long[]");
  EXPECT_EQ(java_name("a/B"), "a.B");
  EXPECT_THAT(java_name("\033[31m"), Not(HasSubstr("\033")));
}

TEST(Growth, ClassesAndWaysThatHaveGrownComeFirst) {
  std::vector<Report> reports;
  ReportOptions options;
  options.clip_percent = 0;
  for (const size_t count : {100, 200, 400})
    reports.push_back(report_on(leaking(count).finish(), options));
  const std::string text = growth_text(reports, {});
  EXPECT_THAT(text, HasSubstr("      400      +300       166400      +124800 ^  int[]\n"));
  EXPECT_THAT(text, HasSubstr("class Holder > Item[] > Item > int[]"));
  const pi::Json json = growth_json(reports);
  const pi::Json& first = json.find("classes")->elements().front();
  EXPECT_EQ(*first.find("name")->text(), "int[]");
  EXPECT_EQ(*first.find("more_objects")->signed_number(), 300);
  EXPECT_EQ(json.find("dumps")->size(), 3u);
}

TEST(Report, DamagedDumpsGiveAReportOrAMessage) {
  std::mt19937 random(11);
  const std::vector<std::byte> whole = leaking(20).finish();
  for (int round = 0; round < 150; ++round) {
    std::vector<std::byte> bytes = whole;
    for (size_t i = 1 + random() % 6; i > 0; --i)
      bytes[31 + random() % (bytes.size() - 31)] = static_cast<std::byte>(random());
    ReportOptions options;
    options.paths_of = "*";
    const auto report = try_report(bytes, options);
    if (report) {
      EXPECT_LE(report->reachable_objects, report->objects);
    }
  }
}

}  // namespace
}  // namespace hdump
