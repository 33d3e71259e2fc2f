// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "bills/commands.h"
#include "bills/ledger_report.h"
#include "bills/running_bill.h"
#include "kube/request_path.h"
#include "objects/job.h"
#include "objects/output.h"

namespace gpupool::bills {
namespace {

class Bill final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "bill",
        .summary = "Show what jobs have cost",
        .text =
            "What jobs that exist have cost until now. If an account pays for the namespace and you may "
            "read it,\n"
            "what it has spent is shown too.\n"
            "\n"
            "With --month: the bill of that month from the books of gpupool-ledger, which has deleted jobs "
            "too.\n"
            "With JOB: how each amount of the job in the books is worked out.",
        .example =
            "  kubectl gpupool bill\n"
            "  kubectl gpupool bill -A -o json\n"
            "  kubectl gpupool bill --month 2026-11 -o csv\n"
            "  kubectl gpupool bill resnet"};
  }

  void add_flags(command::Flags& flags) override {
    flags.optional_argument("JOB", job_, "How the amounts of this job come about, by the books",
                            command::Offer::kJobs);
    flags.yes("-A,--all-namespaces", all_namespaces_, "Jobs of all namespaces");
    add_report_flags(flags, report_);
    objects::add_output_flag(flags, report_.output, {"json", "yaml", "csv", "focus"});
  }

  base::Result<int> run(command::Context& context) override {
    if (!job_.empty()) return explain(context);
    const bool booked = !report_.month.empty();
    if (!booked && (report_.output == "csv" || report_.output == "focus" || !report_.ledger.empty()))
      return base::fail(base::ErrorCode::kInvalidArgument,
                        "-o csv, -o focus and --ledger are of the books: give --month, such as 2026-11");
    if (!booked) return show_running_bill(all_namespaces_, report_.output, context);
    if (all_namespaces_) return show_report("/bill", report_, context);
    return show_in_namespace("/bill", context);
  }

 private:
  base::Result<int> explain(command::Context& context) {
    if (const auto name = objects::job_name(job_); !name) return tl::unexpected<base::Error>(name.error());
    if (all_namespaces_ || !report_.month.empty() || !report_.output.empty())
      return base::fail(base::ErrorCode::kInvalidArgument,
                        "a JOB is explained as text, of all months: it excludes -A, --month and -o");
    return show_in_namespace("/jobs/" + kube::percent_encode(job_) + "/explanation", context);
  }

  // path: below that of the namespace.
  base::Result<int> show_in_namespace(const std::string& path, command::Context& context) {
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    return show_report("/namespaces/" + kube::percent_encode((*session)->ns()) + path, report_, context);
  }

  std::string job_;
  bool all_namespaces_ = false;
  ReportOptions report_;
};

}  // namespace

std::unique_ptr<command::Command> make_bill() { return std::make_unique<Bill>(); }

}  // namespace gpupool::bills
