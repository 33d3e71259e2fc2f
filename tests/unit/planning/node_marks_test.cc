// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_marks.h"

#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

class Marks : public testing::Test {
 protected:
  NodeMarks wanted(bool in_use = false) const { return wanted_marks(node_, pool_, nullptr, in_use); }

  const api::GpuPool sharing_ = test::make_sharing_pool();
  const api::GpuPool exclusive_ = test::make_pool();
  const api::GpuPool* pool_ = &sharing_;
  api::Node node_ = test::make_node("a");
  const api::Node member_ = test::make_shared_member("a", 10);
};

TEST_F(Marks, AMemberOfASharingPoolGetsThem) {
  EXPECT_EQ(wanted().pool_taint, "lab");
  EXPECT_EQ(wanted().member_label, "uid-a");
  EXPECT_EQ(marks_of(member_), wanted_marks(member_, &sharing_, nullptr, false));
}

TEST_F(Marks, OthersGetNone) {
  pool_ = &exclusive_;
  EXPECT_EQ(wanted(), marks_of(node_));
  pool_ = nullptr;
  EXPECT_EQ(wanted(), marks_of(node_));
}

TEST_F(Marks, GoWithThePoolAndItsWorkers) {
  node_ = member_;
  for (const auto* pool : {&exclusive_, static_cast<const api::GpuPool*>(nullptr)}) {
    pool_ = pool;
    EXPECT_EQ(wanted(true), marks_of(member_));
    EXPECT_EQ(wanted(false).pool_taint, std::nullopt);
    EXPECT_EQ(wanted(false).member_label, std::nullopt);
  }
}

TEST_F(Marks, ANodeThatMovesKeepsThoseOfItsWorkersFirst) {
  const auto other = test::make_sharing_pool("other");
  node_ = member_;
  pool_ = &other;
  EXPECT_EQ(wanted(true).pool_taint, "lab");
  EXPECT_EQ(wanted(false).pool_taint, "other");
}

TEST_F(Marks, ArePutBackWhileTheyAreNeeded) { EXPECT_EQ(wanted(true).pool_taint, "lab"); }

TEST_F(Marks, ANodeThatIsLeasedAsAWholeJoinsLater) {
  node_.spec.taints = {{api::kLease, "uid.1", api::kNoSchedule}};
  EXPECT_EQ(wanted().pool_taint, std::nullopt);
}

TEST_F(Marks, APoolThatIsStalledMarksNobody) {
  const auto broken = test::make_sharing_pool(std::string(64, 'x'));
  pool_ = &broken;
  EXPECT_EQ(wanted().pool_taint, std::nullopt);
}

TEST_F(Marks, ModelAndMemoryComeFromTheReport) {
  auto report = test::make_report("a", 2);
  const auto labels = [&] { return wanted_marks(node_, nullptr, &report, false); };
  report.status.gpus[0].model = report.status.gpus[1].model = "NVIDIA A100 (80GB)";
  EXPECT_EQ(labels().model_label, "NVIDIA-A100--80GB");
  EXPECT_EQ(labels().memory_label, "16000Mi");
  report.status.gpus[1].memory_mib = 8000;
  EXPECT_EQ(labels().memory_label, "8000Mi") << "what every GPU of the node has";
  report.status.gpus[1].model.clear();
  report.status.gpus[1].memory_mib = 0;
  EXPECT_EQ(labels().model_label, "NVIDIA-A100--80GB") << "one that is lost changes nothing";
  EXPECT_EQ(labels().memory_label, "16000Mi");
  report.status.gpus[1].memory_mib = 8000;
  report.status.gpus[1].model = "B";
  EXPECT_EQ(labels().model_label, std::nullopt) << "it has no single model";
  report.status.gpus.clear();
  EXPECT_EQ(labels(), marks_of(node_)) << "a driver that is away says nothing";
}

TEST_F(Marks, WithoutAReportLabelsArePeoples) {
  node_.metadata.labels[api::kGpuMemoryLabel] = "7Gi";
  EXPECT_EQ(wanted().model_label, "A");
  EXPECT_EQ(wanted().memory_label, "7Gi");
}

}  // namespace
}  // namespace gpupool::planning
