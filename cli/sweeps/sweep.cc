// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>
#include <string>

#include "objects/output.h"
#include "screen/plain_text.h"
#include "sweeps/commands.h"
#include "sweeps/read_sweep.h"
#include "sweeps/sweep_story.h"
#include "sweeps/trial_output.h"

namespace gpupool::sweeps {
namespace {

constexpr char kShow[] = "show";
constexpr char kBest[] = "best";
constexpr char kTrials[] = "trials";

base::Result<std::optional<std::int64_t>> trial_number(const std::string& word) {
  if (word.empty()) return std::optional<std::int64_t>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0)
    return base::fail(base::ErrorCode::kInvalidArgument, "TRIAL must be the number of a trial, from 0 on");
  return std::optional(number);
}

class Sweep final : public command::Command {
 public:
  Manual manual() const override {
    return {.name = "sweep",
            .summary = "Show a sweep, its best trial, or all its trials with their numbers",
            .text =
                "show: how far it is, a plot of the values, the best trials; of one trial its parameters.\n"
                "best: the best trial. Exit code 1 while there is none.\n"
                "trials: all trials with parameters and metrics. Metrics are those of jobs that exist.",
            .example =
                "  kubectl gpupool sweep show lr-search\n"
                "  kubectl gpupool sweep show lr-search 17\n"
                "  kubectl gpupool sweep best lr-search -o json\n"
                "  kubectl gpupool sweep trials sets -o csv > sets.csv"};
  }

  void add_flags(command::Flags& flags) override {
    flags.word_argument("WHAT", what_, {kShow, kBest, kTrials}, "What of it");
    flags.argument("SWEEP", sweep_, "Name of the GpuSweep", command::Offer::kSweeps);
    flags.optional_argument("TRIAL", trial_, "With show: the number of a trial", command::Offer::kNothing);
    flags.choice("--sort", sort_, {"trial", "value"}, "With trials: by number (default), or best first");
    objects::add_output_flag(flags, output_, {"json", "yaml", "name", "csv"});
  }

  base::Result<int> run(command::Context& context) override {
    if (const auto wrong = mistake(); !wrong.empty())
      return base::fail(base::ErrorCode::kInvalidArgument, wrong);
    if (const auto name = sweep_name(sweep_); !name) return tl::unexpected<base::Error>(name.error());
    const auto number = trial_number(trial_);
    if (!number) return tl::unexpected<base::Error>(number.error());
    const auto opened = context.session();
    if (!opened) return tl::unexpected<base::Error>(opened.error());
    const auto read = read_sweep(**opened, sweep_, context.stop);
    if (!read) return tl::unexpected<base::Error>(read.error());
    if (!read->may_list_jobs)
      context.err << "You may not list jobs in this namespace: their phases and metrics are missing.\n";
    auto seen = see_trials(read->sweep, read->jobs);
    if (what_ == kTrials) return show_trials(context, read->sweep, seen);
    if (what_ == kBest) return show_best(context, read->sweep, seen);
    if (*number) return show_trial(context, read->sweep, seen, **number);
    context.out << sweep_text(read->sweep, seen, (*opened)->clock().wall(), context.terminal);
    return command::exit_code::kGood;
  }

 private:
  std::string mistake() const {
    if (what_ != kShow && !trial_.empty()) return "only show takes the number of a trial";
    if (what_ != kTrials && !sort_.empty()) return "only trials takes --sort";
    if (what_ != kTrials && output_ == "csv") return "only trials takes -o csv";
    if (what_ == kShow && trial_.empty() && !output_.empty())
      return "show of a sweep is for people: use trials -o " + output_ + ", or kubectl get gsweep -o json";
    return "";
  }

  // The text in the form of -o that all of them have; false if -o asks for another.
  bool print(command::Context& context, const std::string& json, const SeenTrial& trial) const {
    if (output_ == "name") {
      context.out << "gpujob.gpupool.dev/" << screen::plain_text(trial.job) << "\n";
    } else if (!output_.empty()) {
      context.out << objects::printed(json, output_);
    }
    return !output_.empty();
  }

  base::Result<int> show_trial(command::Context& context, const api::GpuSweep& sweep, const SeenTrials& seen,
                               std::int64_t number) const {
    if (static_cast<std::size_t>(number) >= seen.trials.size()) {
      return base::fail(base::ErrorCode::kBadRequest,
                        "sweep " + sweep.metadata.name + " has " + std::to_string(seen.trials.size()) +
                            " trials, from 0 on" + (seen.unknown.empty() ? "" : "; " + seen.unknown));
    }
    const auto& trial = seen.trials[static_cast<std::size_t>(number)];
    if (!print(context, trial_json(sweep, trial), trial))
      context.out << trial_text(sweep, seen, trial, context.terminal);
    return command::exit_code::kGood;
  }

  base::Result<int> show_best(command::Context& context, const api::GpuSweep& sweep,
                              const SeenTrials& seen) const {
    if (!sweep.spec.objective) {
      return base::fail(base::ErrorCode::kBadRequest,
                        "sweep " + sweep.metadata.name +
                            " has no spec.objective, so none of its trials is the best: use trials");
    }
    if (!sweep.status.best) {
      context.err << "No trial of " << screen::plain_text(sweep.metadata.name) << " has a value yet.\n";
      return command::exit_code::kError;
    }
    return show_trial(context, sweep, seen, sweep.status.best->trial);
  }

  base::Result<int> show_trials(command::Context& context, const api::GpuSweep& sweep,
                                SeenTrials& seen) const {
    if (sort_ == "value") {
      if (!sweep.spec.objective) {
        return base::fail(base::ErrorCode::kBadRequest,
                          "sweep " + sweep.metadata.name + " has no spec.objective to sort by");
      }
      sort_by_value(seen.trials, *sweep.spec.objective);
    }
    if (output_ == "csv") {
      context.out << trial_csv(sweep, seen.trials);
    } else if (output_ == "name") {
      for (const auto& trial : seen.trials) print(context, "", trial);
    } else if (!output_.empty()) {
      context.out << objects::printed(trials_json(sweep, seen.trials), output_);
    } else {
      if (!seen.unknown.empty())
        context.err << "The parameters are not known: " << screen::plain_text(seen.unknown) << "\n";
      context.out << trial_table(sweep, seen.trials).text(context.terminal);
    }
    return command::exit_code::kGood;
  }

  std::string what_;
  std::string sweep_;
  std::string trial_;
  std::string sort_;
  std::string output_;
};

}  // namespace

std::unique_ptr<command::Command> make_sweep() { return std::make_unique<Sweep>(); }

}  // namespace gpupool::sweeps
