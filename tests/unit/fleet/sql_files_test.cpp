// SPDX-License-Identifier: MIT
// The queries of pitrace-fleet and their placeholders.
#include "sql_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SqlFiles, EachIsItsOwn) {
  EXPECT_THAT(fleet::sql(fleet::Query::duckdb), HasSubstr("CREATE VIEW all_records"));
  EXPECT_THAT(fleet::sql(fleet::Query::summary), HasSubstr("AS kinds"));
  EXPECT_THAT(fleet::sql(fleet::Query::top), HasSubstr("ORDER BY ticks DESC"));
  EXPECT_THAT(fleet::sql(fleet::Query::duckdb_paths), HasSubstr("CREATE VIEW all_paths"));
  EXPECT_THAT(fleet::sql(fleet::Query::stacks), HasSubstr("AS parent"));
  EXPECT_THAT(fleet::sql(fleet::Query::paths), HasSubstr("FROM path_records"));
  EXPECT_THAT(fleet::sql(fleet::Query::names), HasSubstr("FROM names"));
  EXPECT_THAT(fleet::sql(fleet::Query::unnamed), HasSubstr("FROM all_frames"));
  EXPECT_THAT(fleet::sql(fleet::Query::hosts), HasSubstr("AS hosts_both"));
  EXPECT_THAT(fleet::sql(fleet::Query::diff), HasSubstr("AS a_of_a"));
  EXPECT_THAT(fleet::sql(fleet::Query::versions), HasSubstr("AS version"));
  EXPECT_THAT(fleet::sql(fleet::Query::page), HasSubstr("AS ns"));
  EXPECT_THAT(fleet::sql(fleet::Query::page_stacks), HasSubstr("AS kernel"));
  EXPECT_THAT(fleet::sql(fleet::Query::source), HasSubstr("epoch_us(time) AS last_micros"));
  EXPECT_THAT(fleet::sql(fleet::Query::source_days), HasSubstr("epoch_us(last) AS last_micros"));
  EXPECT_THAT(fleet::sql(fleet::Query::compact), HasSubstr("COPY"));
  EXPECT_THAT(fleet::sql(fleet::Query::overlaps), HasSubstr("'pitrace.end'"));
  EXPECT_THAT(fleet::sql(fleet::Query::schemas), HasSubstr("'pitrace.schema'"));
  EXPECT_THAT(fleet::sql(fleet::Query::cells), HasSubstr("GROUPING SETS"));
}

TEST(SqlFiles, WordsAreReplacedAndOtherBracesStay) {
  const std::string text =
      fleet::sql(fleet::Query::source, {{"files", "'/a{dates}b'"}, {"dates", "TRUE"}});
  EXPECT_THAT(text, HasSubstr("read_parquet('/a{dates}b',"));
  EXPECT_THAT(text, HasSubstr("{'date': DATE, 'host': VARCHAR}"));
  EXPECT_THAT(text, HasSubstr("WHERE TRUE"));
  EXPECT_THAT(text, Not(HasSubstr("{files}, ")));
}

}  // namespace
