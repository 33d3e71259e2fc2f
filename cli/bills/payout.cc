// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "bills/commands.h"
#include "bills/ledger_report.h"
#include "kube/request_path.h"
#include "objects/output.h"

namespace gpupool::bills {
namespace {

class Payout final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "payout",
        .summary = "Show what owners of machines are paid",
        .text =
            "By the books of gpupool-ledger: what jobs have paid for the machines of a month, less the fee, "
            "what "
            "was\n"
            "paid out, and what is owed. Needed is the right to `get` gpuledgers/payouts, with the owner as "
            "resourceName.",
        .example =
            "  kubectl gpupool payout --owner alice\n"
            "  kubectl gpupool payout --owner alice --month 2026-11 --machines"};
  }

  void add_flags(command::Flags& flags) override {
    flags.text("--owner", owner_, "NAME", "Whose machines; if not given, all owners'");
    flags.yes("--machines", machines_, "Also how long each machine was rented, and how busy it was");
    add_report_flags(flags, report_);
    objects::add_output_flag(flags, report_.output, {"json", "yaml", "csv"});
  }

  base::Result<int> run(command::Context& context) override {
    if (machines_ && report_.output == "csv")
      return base::fail(base::ErrorCode::kInvalidArgument, "--machines has no form -o csv");
    const std::string whose = owner_.empty() ? "" : "/owners/" + kube::percent_encode(owner_);
    return show_report(whose + (machines_ ? "/machines" : "/payout"), report_, context);
  }

 private:
  std::string owner_;
  bool machines_ = false;
  ReportOptions report_;
};

}  // namespace

std::unique_ptr<command::Command> make_payout() { return std::make_unique<Payout>(); }

}  // namespace gpupool::bills
