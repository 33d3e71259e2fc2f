// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/pod.h"
#include "api/v1alpha1/names.h"
#include "base/json.h"
#include "jobs/commands.h"
#include "jobs/story.h"
#include "objects/job.h"

template <>
struct gpupool::base::json::Schema<gpupool::jobs::SeenEvent> {
  using T = jobs::SeenEvent;
  static constexpr auto fields =
      std::array{field<&T::type>("type"),          field<&T::reason>("reason"),
                 field<&T::message>("message"),    field<&T::first>("firstTimestamp"),
                 field<&T::last>("lastTimestamp"), field<&T::time>("eventTime")};
};

namespace gpupool::jobs {
namespace {

constexpr api::ResourceType kEvents{"", "v1", "events", "Event", true};

class Describe final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "describe",
        .summary = "Tell the story of a job",
        .text =
            "What it asks for, how far it is and why, how its sources came and where its results are, its "
            "workers,\n"
            "conditions and events. What the caller may not read is named and left out.",
        .example = "  kubectl gpupool describe resnet"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", job_, "Name of the job", command::Offer::kJobs);
  }

  base::Result<int> run(command::Context& context) override {
    if (const auto name = objects::job_name(job_); !name) return tl::unexpected<base::Error>(name.error());
    const auto opened = context.session();
    if (!opened) return tl::unexpected<base::Error>(opened.error());
    command::Session& session = **opened;
    auto read = objects::read_job(session, job_, context.stop);
    if (!read) return tl::unexpected<base::Error>(read.error());
    Story story{.job = std::move(read->job)};
    auto pods =
        kube::list<api::Pod>(session.client(), session.ns(),
                             {.label_selector = std::string(api::kJobUidLabel) + "=" + story.job.metadata.uid,
                              .resource_version = "0"},
                             context.stop);
    if (pods) {
      story.pods = std::move(*pods);
    } else if (pods.error().code != base::ErrorCode::kForbidden) {
      return tl::unexpected<base::Error>(pods.error());
    }
    auto events = kube::decode<api::List<SeenEvent>>(session.client().list(
        kEvents, session.ns(), {.field_selector = "involvedObject.uid=" + story.job.metadata.uid},
        context.stop));
    if (events) {
      story.events = std::move(events->items);
    } else if (events.error().code != base::ErrorCode::kForbidden) {
      return tl::unexpected<base::Error>(events.error());
    }
    context.out << story_text(story, session.clock().wall(), context.terminal);
    return command::exit_code::kGood;
  }

 private:
  std::string job_;
};

}  // namespace

std::unique_ptr<command::Command> make_describe() { return std::make_unique<Describe>(); }

}  // namespace gpupool::jobs
