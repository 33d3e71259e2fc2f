// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "api/v1alpha1/names.h"
#include "jobs/commands.h"
#include "objects/job.h"
#include "objects/new_job.h"

namespace gpupool::jobs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 45;
constexpr char kRetryOf[] = "gpupool.dev/retry-of";

// "resnet" -> "resnet-r2", "resnet-r2" -> "resnet-r3".
std::string next_name(const std::string& name) {
  std::string base = name;
  int number = 1;
  if (const auto at = name.rfind("-r"); at != std::string::npos && at > 0 && at + 2 < name.size()) {
    int seen = 0;
    const char* const end = name.data() + name.size();
    if (const auto [rest, error] = std::from_chars(name.data() + at + 2, end, seen);
        error == std::errc{} && rest == end && seen > 1 && seen < 100000) {
      base = name.substr(0, at);
      number = seen;
    }
  }
  const std::string ending = "-r" + std::to_string(number + 1);
  base.resize(std::min(base.size(), kLongestName - ending.size()));
  while (base.ends_with('-')) base.pop_back();
  return base + ending;
}

// A new job with the spec, labels and annotations of the old one, apart from what belongs to the old one
// alone.
std::string manifest_of(const objects::ReadJob& old, const std::string& name) {
  const Json seen = Json::parse(old.text);
  Json metadata{{"name", name}, {"namespace", old.job.metadata.ns}};
  const Json& old_metadata = seen.at("metadata");
  if (old_metadata.contains("labels")) metadata["labels"] = old_metadata["labels"];
  Json annotations = Json::object();
  if (old_metadata.contains("annotations")) {
    for (const auto& [key, value] : old_metadata["annotations"].items()) {
      const bool own = key.starts_with("gpupool.dev/") || key.find("kubernetes.io/") != std::string::npos;
      if (!own) annotations[key] = value;
    }
  }
  annotations[kRetryOf] = old.job.metadata.name;
  metadata["annotations"] = std::move(annotations);
  Json spec = seen.at("spec");
  spec.erase("suspend");
  return Json{{"apiVersion", api::kApiVersion}, {"kind", "GpuJob"}, {"metadata", metadata}, {"spec", spec}}
      .dump();
}

class Retry final : public command::Command {
 public:
  Manual manual() const override {
    return {.name = "retry",
            .summary = "Run a job that has ended once more, as a new job",
            .text =
                "The new job has the spec, labels and annotations of the old one, which stays; its attempts "
                "and failures\n"
                "are counted from zero. Its annotation gpupool.dev/retry-of names the old job.",
            .example =
                "  kubectl gpupool retry resnet            # makes resnet-r2\n"
                "  kubectl gpupool retry resnet --name resnet-fixed"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", job_, "Name of the job", command::Offer::kJobs);
    flags.text("--name", name_, "NAME",
               "Name of the new job; default: that of the old one with -r2, -r3 and so on");
  }

  base::Result<int> run(command::Context& context) override {
    if (!name_.empty()) {
      if (const auto good = objects::job_name(name_); !good) return tl::unexpected<base::Error>(good.error());
    }
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    const auto old = objects::read_job(**session, job_, context.stop);
    if (!old) return tl::unexpected<base::Error>(old.error());
    if (!old->job.finished()) {
      return base::fail(base::ErrorCode::kConflict, old->job.metadata.name +
                                                        " has not ended: " + objects::short_state(old->job) +
                                                        ". Only a job that has ended can be run again.");
    }
    const auto created = create(**session, *old, context.stop);
    if (!created) return tl::unexpected<base::Error>(created.error());
    context.out << "gpujob.gpupool.dev/" << created->metadata.name << " created\n";
    return command::exit_code::kGood;
  }

 private:
  base::Result<api::GpuJob> create(command::Session& session, const objects::ReadJob& old,
                                   const std::stop_token& stop) const {
    static constexpr int kMostTries = 50;
    std::string name = name_.empty() ? next_name(old.job.metadata.name) : name_;
    for (int tries = 1;; ++tries) {
      auto job = objects::create_job(session, manifest_of(old, name), objects::script_of(old.text), stop);
      const bool taken = !job && job.error().code == base::ErrorCode::kAlreadyExists;
      if (!taken || !name_.empty() || tries == kMostTries) return job;
      name = next_name(name);
    }
  }

  std::string job_;
  std::string name_;
};

}  // namespace

std::unique_ptr<command::Command> make_retry() { return std::make_unique<Retry>(); }

}  // namespace gpupool::jobs
