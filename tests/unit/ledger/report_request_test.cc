// SPDX-License-Identifier: Apache-2.0
#include "report_api/report_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::ledger {
namespace {

using Kind = ReportRequest::Kind;

base::Result<ReportRequest> asked(const std::string& path, const std::string& query = "") {
  return read_report_request(path, query, *base::parse_month("2026-11"));
}

TEST(ReportRequest, ReadsWhatIsServed) {
  const auto bill = asked("/v1/namespaces/lab/bill", "month=2026-10&format=focus");
  ASSERT_TRUE(bill);
  EXPECT_EQ(bill->kind, Kind::kBill);
  EXPECT_EQ(bill->ns, "lab");
  EXPECT_EQ(bill->month.name, "2026-10");
  EXPECT_EQ(bill->format, "focus");
  EXPECT_EQ(asked("/v1/bill")->ns, "");
  EXPECT_EQ(asked("/v1/bill")->month.name, "2026-11");
  const auto explanation = asked("/v1/namespaces/lab/jobs/train/explanation");
  ASSERT_TRUE(explanation);
  EXPECT_EQ(explanation->kind, Kind::kExplanation);
  EXPECT_EQ(explanation->job, "train");
  EXPECT_EQ(asked("/v1/owners/alice/payout")->owner, "alice");
  EXPECT_EQ(asked("/v1/owners/alice/machines")->kind, Kind::kMachines);
  EXPECT_EQ(asked("/v1/payout")->owner, "");
}

TEST(ReportRequest, NothingElseIsServed) {
  for (const char* path :
       {"", "/", "/v1", "/v1/", "/v2/bill", "/v1/namespaces/lab", "/v1/namespaces//bill",
        "/v1/owners/lab/bill", "/v1/namespaces/lab/payout", "/v1/namespaces/lab/jobs//explanation",
        "/v1/explanation", "/v1/namespaces/lab/jobs/a/b/explanation", "/v1/namespaces/lab/bill/x",
        "/v1/namespaces/a/b/bill"}) {
    const auto request = asked(path);
    ASSERT_FALSE(request) << path;
    EXPECT_EQ(request.error().http_status, 404) << path;
  }
}

TEST(ReportRequest, WrongQueriesAreRefused) {
  for (const char* query : {"month=2026", "month=", "format=yaml", "format=", "month=%zz"}) {
    const auto request = asked("/v1/bill", query);
    ASSERT_FALSE(request) << query;
    EXPECT_EQ(request.error().code, base::ErrorCode::kInvalidArgument) << query;
  }
  EXPECT_THAT(asked("/v1/payout", "format=focus").error().message, testing::EndsWith("text, csv, json"));
  EXPECT_FALSE(asked("/v1/machines", "format=csv"));
  EXPECT_FALSE(asked("/v1/namespaces/lab/jobs/train/explanation", "format=json"));
}

TEST(ReportRequest, TheRightIsToListJobsOrToGetPayouts) {
  const auto bill = right_for(*asked("/v1/namespaces/lab/bill"));
  EXPECT_EQ(bill.verb + " " + bill.resource + " in " + bill.ns, "list gpujobs in lab");
  EXPECT_EQ(right_for(*asked("/v1/namespaces/lab/jobs/train/explanation")).ns, "lab");
  EXPECT_EQ(right_for(*asked("/v1/bill")).ns, "");
  for (const char* path : {"/v1/owners/alice/payout", "/v1/owners/alice/machines"}) {
    const auto payout = right_for(*asked(path));
    EXPECT_EQ(payout.verb + " " + payout.resource + "/" + payout.subresource + " " + payout.name,
              "get gpuledgers/payouts alice");
    EXPECT_EQ(payout.ns, "");
  }
}

}  // namespace
}  // namespace gpupool::ledger
