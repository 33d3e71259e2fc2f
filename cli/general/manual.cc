// SPDX-License-Identifier: Apache-2.0
#include "general/manual.h"

#include <string_view>
#include <utility>

#include "command/help.h"
#include "command/registry.h"

namespace gpupool::general {
namespace {

// Text as roff: dashes stay what they are, and no line is taken for a request.
std::string roff(std::string_view text) {
  std::string all;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) all += "\\&";
    if (c == '\\') {
      all += "\\e";
    } else if (c == '-') {
      all += "\\-";
    } else {
      all += c;
    }
    line_begins = c == '\n';
  }
  return all;
}

void add_flags_of(const command::Flags& flags, bool general, std::string& page) {
  for (const command::FlagInfo& flag : flags.all()) {
    if (flag.general != general) continue;
    page += ".TP\n";
    if (flag.is_argument) {
      page += ".I " + roff(flag.long_name) + "\n";
    } else {
      const std::string shorter = flag.short_name == 0 ? "" : std::string("-") + flag.short_name + ", ";
      page += "\\fB" + roff(shorter + "--" + flag.long_name) + "\\fR \\fI" + roff(flag.value_name) + "\\fR\n";
    }
    page += roff(flag.help) + ".\n";
  }
}

class ManualPage final : public command::Command {
 public:
  explicit ManualPage(std::string own) : own_(std::move(own)) {}

  Manual manual() const override {
    return {.name = "__manual", .summary = "Print the manual page", .hidden = true};
  }

  void add_flags(command::Flags&) override {}

  base::Result<int> run(command::Context& context) override {
    std::string page = ".TH KUBECTL\\-GPUPOOL 1 \"\" \"gpupool " + own_ +
                       "\"\n.SH NAME\nkubectl\\-gpupool \\- jobs and GPUs of "
                       "GpuPools\n.SH SYNOPSIS\n.B kubectl gpupool\n.I COMMAND\n[flags]\n.SH DESCRIPTION\n"
                       "The command line of gpupool, which runs jobs on the GPUs of a Kubernetes cluster. It "
                       "does what the caller's "
                       "kubeconfig allows.\n.SH COMMANDS\n";
    for (const auto& entry : context.registry.entries()) {
      const auto manual = entry.command->manual();
      if (manual.hidden) continue;
      command::Flags flags("kubectl gpupool " + manual.name);
      entry.command->add_flags(flags);
      page += ".SS " + roff(command::usage_line(manual, flags)) + "\n" + roff(manual.summary) + ".\n";
      if (!manual.text.empty()) page += ".PP\n" + roff(manual.text) + "\n";
      add_flags_of(flags, false, page);
      if (!manual.example.empty()) page += ".PP\nExamples:\n.nf\n" + roff(manual.example) + "\n.fi\n";
    }
    command::Flags flags("kubectl gpupool");
    command::GeneralFlags unused;
    command::add_general_flags(flags, unused);
    page += ".SH FLAGS OF ALL COMMANDS\n";
    add_flags_of(flags, true, page);
    page +=
        ".SH EXIT STATUS\n0 done; 1 an error; 2 wrong flags or arguments. wait and run \\-\\-wait end with "
        "the exit code of the "
        "job, 124 at its deadline, 125 if it failed for a reason that is not its command's; 130 after "
        "Ctrl\\-C.\n";
    context.out << page;
    return command::exit_code::kGood;
  }

 private:
  std::string own_;
};

}  // namespace

std::unique_ptr<command::Command> make_manual(std::string own_version) {
  return std::make_unique<ManualPage>(std::move(own_version));
}

}  // namespace gpupool::general
