// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>

#include "nodes/chosen_nodes.h"
#include "nodes/commands.h"
#include "nodes/picture.h"
#include "nodes/read_nodes.h"
#include "objects/output.h"
#include "screen/live_screen.h"
#include "screen/plain_text.h"

namespace gpupool::nodes {
namespace {

class Top final : public command::Command {
 public:
  Manual manual() const override {
    return {.name = "top",
            .summary = "Show GPUs, how busy they are, and who uses them",
            .text =
                "Of all nodes, or of one pool, node or job. The readings are those that the device plugins "
                "last reported:\n"
                "up to a minute old. On a terminal the picture is drawn again until Ctrl-C; elsewhere it is "
                "printed once.\n"
                "A letter in the column SLICES is a part of the GPU that a pod has; x is a GPU that is not "
                "healthy.",
            .example =
                "  kubectl gpupool top\n"
                "  kubectl gpupool top resnet            # the GPUs of this job\n"
                "  kubectl gpupool top pool/lab --once"};
  }

  void add_flags(command::Flags& flags) override {
    flags.optional_argument("POOL|NODE|JOB", word_,
                            "What to show, also as pool/NAME, node/NAME or job/NAME; default: all",
                            command::Offer::kPools);
    flags.yes("--once", once_, "Print once, also on a terminal");
    flags.duration("--every", every_, "Time between two pictures; default 5s");
    objects::add_output_flag(flags, output_, {"json", "yaml"});
  }

  base::Result<int> run(command::Context& context) override {
    static constexpr std::chrono::milliseconds kShortest(500);
    if (every_ && *every_ < kShortest) {
      return base::fail(base::ErrorCode::kInvalidArgument, "--every: the shortest time is 500ms");
    }
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    if (output_.empty() && !once_ && context.terminal.live) return draw(**session, context);
    const auto chosen = choose(**session, word_, context.stop);
    if (!chosen) return tl::unexpected<base::Error>(chosen.error());
    const auto nodes = read_nodes(**session, *chosen, context.stop);
    if (!nodes) return tl::unexpected<base::Error>(nodes.error());
    if (output_.empty()) {
      context.out << picture(chosen->title, *nodes, (*session)->clock().wall(), context.terminal);
    } else {
      context.out << objects::printed(picture_json(*nodes), output_);
    }
    return command::exit_code::kGood;
  }

 private:
  // Until Ctrl-C. An error before the first picture ends it; a later one is shown below the last picture.
  base::Result<int> draw(command::Session& session, command::Context& context) const {
    auto chosen = choose(session, word_, context.stop);
    if (!chosen) return tl::unexpected<base::Error>(chosen.error());
    auto nodes = read_nodes(session, *chosen, context.stop);
    if (!nodes) return tl::unexpected<base::Error>(nodes.error());
    screen::LiveScreen live(context.out);
    std::string trouble;
    do {
      const auto terminal = screen::size_now(context.terminal);
      live.draw(picture(chosen->title, *nodes, session.clock().wall(), terminal) + trouble, terminal);
      if (!session.clock().sleep_for(every_.value_or(std::chrono::seconds(5)), context.stop)) break;
      // A job may have other nodes now, and a pool other members.
      const auto choice = choose(session, word_, context.stop);
      auto read =
          choice ? read_nodes(session, *choice, context.stop) : tl::unexpected<base::Error>(choice.error());
      trouble = read ? "" : "\n" + screen::plain_text(read.error().message) + "\n";
      if (read) {
        chosen = choice;
        nodes = std::move(read);
      }
    } while (!context.stop.stop_requested());
    return command::exit_code::kGood;
  }

  std::string word_;
  std::string output_;
  std::optional<std::chrono::milliseconds> every_;
  bool once_ = false;
};

}  // namespace

std::unique_ptr<command::Command> make_top() { return std::make_unique<Top>(); }

}  // namespace gpupool::nodes
