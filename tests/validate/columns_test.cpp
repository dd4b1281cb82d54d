// The table of columns, and that the reader, its errors, the help and the page of documentation follow it.
#include "sim/validate/columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sim/validate/measured_case.hpp"
#include "sim/validate/measured_set.hpp"
#include "tests/validate/fixture.hpp"

namespace noteg::validate {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// A row that can be expressed, with some of its fields replaced or added.
CaseOrReason with(const Fields& changes, UnknownKernel unknown = UnknownKernel::reason) {
  Fields fields{{"gpu", "L4"},     {"dtype_in", "fp16"}, {"M", "512"},      {"N", "512"},    {"K", "512"},
                {"family", "mma"}, {"tile_m", "128"},    {"tile_n", "128"}, {"time_ms", "1"}};
  for (const auto& [name, value] : changes) {
    const auto found = std::ranges::find(fields, name, &std::pair<std::string, std::string>::first);
    if (found == fields.end())
      fields.emplace_back(name, value);
    else
      found->second = value;
  }
  std::string header, row;
  for (const auto& [name, value] : fields) {
    row += (header.empty() ? "" : ",") + value;
    header += (header.empty() ? "" : ",") + name;
  }
  const MeasuredData data = test::data_of(header + "\n" + row + "\n");
  return case_of(data, data.rows.front(), TimeColumn::as_taken, unknown);
}

std::string reason(const Fields& changes) {
  const CaseOrReason built = with(changes);
  const auto* text = std::get_if<std::string>(&built);
  return text == nullptr ? "" : *text;
}

kernels::KernelConfig config(const Fields& changes) {
  const CaseOrReason built = with(changes);
  if (const auto* text = std::get_if<std::string>(&built)) {
    ADD_FAILURE() << *text;
    return {};
  }
  return std::get<MeasuredCase>(built).config;
}

TEST(Columns, StandInTheOrderOfTheirNames) {
  for (std::size_t i = 0; i < column_table().size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(column_table()[i].id), i) << column_table()[i].name;
  EXPECT_EQ(info(Column::notes).name, "notes");
  EXPECT_EQ(find_column("no_such_column"), nullptr);
}

TEST(Columns, EachSaysWhatABlankMeansOrIsNeeded) {
  for (const ColumnInfo& column : column_table()) {
    EXPECT_EQ(column.fallback.empty(), column.need != Need::no) << column.name;
    EXPECT_FALSE(column.meaning.empty()) << column.name;
    EXPECT_NE(columns_help().find(std::string(column.expects)), std::string::npos) << column.name;
  }
}

// Of the columns with a limited choice: what stands in none of them is told with what the table says.
TEST(Columns, AReasonSaysWhatTheTableExpects) {
  for (const ColumnInfo& column : column_table()) {
    const bool any_text = column.id == Column::source || column.id == Column::gpu || column.id == Column::notes ||
                          column.id == Column::kernel_name;
    if (any_text || column.id == Column::time_cold_ms) continue;  // the latter is read under --cold only
    const std::string found = reason(Fields{{std::pair{std::string(column.name), std::string("?")}}});
    EXPECT_NE(found.find(column.name), std::string::npos) << column.name << ": " << found;
    EXPECT_NE(found.find(column.expects), std::string::npos) << column.name << ": " << found;
  }
}

TEST(Columns, ARowWithoutWhatIsNeededIsSkippedWithWhatWasExpected) {
  for (const ColumnInfo& column : column_table()) {
    if (column.need == Need::no) continue;
    const std::string found = reason(Fields{{std::pair{std::string(column.name), std::string("")}}});
    EXPECT_EQ(found.find(std::string(column.name) + " is blank: expected " + std::string(column.expects)), 0u)
        << column.name << ": " << found;
  }
}

// What a row does not say is no fp32.
TEST(Columns, ATypeComesFromItsColumnOrTheKernelsName) {
  EXPECT_EQ(config({}).dtype_in, kernels::DataType::f16);
  EXPECT_NE(reason({{"dtype_in", ""}}).find("dtype_in is blank"), std::string::npos);
  EXPECT_EQ(config({{"dtype_in", ""}, {"family", ""}, {"kernel_name", "ampere_sgemm_128x64_tn"}}).dtype_in,
            kernels::DataType::f32);
  EXPECT_EQ(config({{"dtype_in", "int8"}}).dtype_acc, kernels::DataType::s32);
  EXPECT_EQ(config({{"dtype_in", "fp16"}}).dtype_acc, kernels::DataType::f32);
}

TEST(Columns, AFileWithoutTypesIsRefused) {
  const test::TemporaryFile bare("bare.csv", "gpu,M,N,K,family,tile_m,tile_n,time_ms\nL4,1,1,1,simt,8,8,1\n");
  const Result<MeasuredData> none = read_measured({bare.path()});
  ASSERT_FALSE(none);
  EXPECT_NE(none.errors().front().to_string().find(":1:1: dtype_in: expected a column of this name: f32"),
            std::string::npos)
      << none.errors().front().to_string();
  const test::TemporaryFile named("named.csv", "gpu,M,N,K,kernel_name,time_ms\nL4,1,1,1,ampere_sgemm_128x64_tn,1\n");
  EXPECT_TRUE(read_measured({named.path()}));
}

TEST(Columns, AKnownColumnInOtherLettersIsRefusedNotLeftUnread) {
  const test::TemporaryFile file("case.csv", "gpu,M,N,K,dtype_in,Stages,time_ms\nL4,1,1,1,f32,3,1\n");
  const Result<MeasuredData> data = read_measured({file.path()});
  ASSERT_FALSE(data);
  EXPECT_NE(data.errors().front().to_string().find(":1:6: stages: "), std::string::npos)
      << data.errors().front().to_string();
}

TEST(Columns, AnOperationThatTheModelLacksIsNoGemm) {
  for (const char* op : {"attention", "GEMM"})
    EXPECT_NE(reason({{"op", op}}).find("op \"" + std::string(op) + "\": expected gemm, linear"), std::string::npos);
}

TEST(Columns, ClustersAndSchedulesOfWgmmaAreRead) {
  const Fields wgmma{{"family", "wgmma"}, {"cluster", "2x1x1"}, {"schedule", "pingpong"}};
  EXPECT_EQ(config(wgmma).cluster_m, 2);
  EXPECT_EQ(config(wgmma).cluster_n, 1);
  EXPECT_EQ(config(wgmma).schedule, kernels::Schedule::pingpong);
  EXPECT_NE(reason({{"cluster", "2x1"}}).find("cluster \"2x1\""), std::string::npos);  // mma has no clusters
  EXPECT_EQ(config({{"cluster", "1x1x1"}}).cluster_m, 1);
  EXPECT_EQ(config({{"schedule", "pipelined_ldg_sts"}}).async_copy, false);
  EXPECT_NE(reason({{"schedule", "pingpong"}}).find("schedule \"pingpong\""), std::string::npos);
}

TEST(Columns, TheInstructionIsTheFamilyWhereThatIsUnknown) {
  EXPECT_EQ(config({{"family", ""}, {"instr", "mma"}}).family, kernels::Family::mma);
  EXPECT_EQ(config({{"family", ""}, {"instr", "wgmma"}}).family, kernels::Family::wgmma);
  EXPECT_NE(reason({{"family", ""}, {"instr", "ffma"}}), "");  // of several families
  EXPECT_NE(reason({{"family", "simt"}, {"instr", "mma"}}).find("does not fit family simt"), std::string::npos);
  EXPECT_NE(reason({{"instr", "tcgen05"}}).find("instr \"tcgen05\""), std::string::npos);
}

// A number beyond what a kernel can have must not wrap around into one that it can.
TEST(Columns, HugeTilesAreNotCutToSmallOnes) {
  EXPECT_NE(reason({{"tile_m", "4294967424"}}).find("tile_m"), std::string::npos);
}

TEST(Columns, ASourceThatNobodyKnowsIsNamed) {
  const MeasuredData data = test::data_of("source,gpu\nneusight,L4\nmine,L4\n,L4\nmine,L4\n");
  EXPECT_EQ(unknown_sources(data), (std::vector<std::string>{"mine"}));
}

TEST(MeasuredReference, IsUpToDate) {
  const std::string path = NOTEG_SOURCE_DIR "/docs/reference/measured-files.md";
  const std::string page = measured_reference();
  if (std::getenv("NOTEG_UPDATE_GENERATED") != nullptr) std::ofstream(path) << page;
  std::ostringstream found;
  found << std::ifstream(path).rdbuf();
  EXPECT_EQ(found.str(), page) << "run NOTEG_UPDATE_GENERATED=1 test_validate";
}

}  // namespace
}  // namespace noteg::validate
