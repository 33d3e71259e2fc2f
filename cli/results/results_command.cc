// SPDX-License-Identifier: Apache-2.0
#include "results/results_command.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "objects/job.h"
#include "objects/output.h"
#include "results/bucket_credentials.h"
#include "results/fetch_place.h"
#include "results/places.h"
#include "screen/bytes.h"
#include "screen/plain_text.h"

namespace gpupool::results {
namespace {

using Json = nlohmann::ordered_json;
using screen::plain_text;

constexpr std::chrono::hours kForFiles{24};
constexpr std::int64_t kMostRank = 63999;
constexpr std::int64_t kMostAttempt = 1000000;

// What became of one place.
struct PlaceOutcome {
  std::string state;
  FetchedFiles done = {};
  std::string why = {};
};

constexpr char kMissing[] = "Missing";  // nothing could be fetched
constexpr char kInVolume[] = "InVolume";

std::string title_of(const Place& place) {
  const bool several = place.directory != place.from;
  return plain_text(place.from + (several ? " of rank " + std::to_string(place.rank) : std::string()));
}

std::string location_of(const Place& place) {
  if (place.to.s3) return "s3://" + place.to.s3->bucket + "/" + place.to.s3->prefix;
  return "pvc://" + place.to.volume->claim_name + "/" + place.to.volume->path;
}

class Results final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "results",
        .summary = "Fetch what a job has left",
        .text =
            "Fetches from the buckets of spec.results what the job has saved, and checks it against the "
            "manifest that is\n"
            "written when all is saved. What is there already with the right SHA-256 is kept, so the command "
            "can be run\n"
            "again after an interruption. Below the directory, paths are as below /gpupool/work. Credentials "
            "come from the\n"
            "Secret that spec.results names, read with your own rights, or from AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY,\n"
            "AWS_SESSION_TOKEN and AWS_CA_BUNDLE. What is in a volume is not fetched: the command says where "
            "it "
            "is.",
        .example =
            "  kubectl gpupool results resnet\n"
            "  kubectl gpupool results resnet --from out/model --to model\n"
            "  kubectl gpupool results resnet --attempt 0 --incomplete"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", job_, "Name of the job", command::Offer::kJobs);
    flags.text("--to", to_, "DIRECTORY", "Where the files go; default ./JOB-results", command::Offer::kFiles);
    flags.text("--from", choice_.from, "PATH", "Only what was saved of PATH below /gpupool/work");
    flags.number("--rank", choice_.rank, "N", "Only what this rank has saved", 0, kMostRank);
    flags.number("--attempt", choice_.attempt, "N", "Of this attempt; default: the last that has ended", 0,
                 kMostAttempt);
    flags.yes("--incomplete", incomplete_, "Also fetch what is there of results that are not complete");
    flags.yes("--env-credentials", from_environment_,
              "Do not read the Secret: take the credentials from the environment");
    objects::add_output_flag(flags, output_, {"json", "yaml"});
  }

  base::Result<int> run(command::Context& context) override {
    const auto name = objects::job_name(job_);
    if (!name) return tl::unexpected<base::Error>(name.error());
    const auto opened = context.session();
    if (!opened) return tl::unexpected<base::Error>(opened.error());
    command::Session& session = **opened;
    const auto read = objects::read_job(session, job_, context.stop);
    if (!read) return tl::unexpected<base::Error>(read.error());
    const auto places = places_of(read->job, choice_);
    if (!places) return tl::unexpected<base::Error>(places.error());
    options_ = {.ns = session.ns(),
                .job = *name,
                .to = to_.empty() ? *name + "-results" : to_,
                .incomplete = incomplete_};
    bool all = true;
    bool any = false;
    Json items = Json::array();
    for (const auto& place : *places) {
      const auto outcome = fetch(place, session, context);
      if (!outcome) return tl::unexpected<base::Error>(outcome.error());
      tell(place, *outcome, context);
      items.push_back(json_of(place, *outcome));
      const bool skipped = outcome->state == api::transfer_state::kSkipped;
      const bool fetched = outcome->state == api::transfer_state::kComplete ||
                           outcome->state == api::transfer_state::kIncomplete;
      all = all && (skipped || fetched);
      any = any || fetched;
    }
    if (!output_.empty()) {
      const Json document{{"apiVersion", objects::kOutputVersion},
                          {"kind", "Results"},
                          {"job", options_.job},
                          {"namespace", options_.ns},
                          {"attempt", places->front().attempt},
                          {"directory", options_.to},
                          {"items", std::move(items)}};
      context.out << objects::printed(document.dump(-1, ' ', false, Json::error_handler_t::replace), output_);
    }
    return all && any ? command::exit_code::kGood : command::exit_code::kError;
  }

 private:
  base::Result<PlaceOutcome> fetch(const Place& place, command::Session& session, command::Context& context) {
    if (place.to.volume) return PlaceOutcome{.state = kInVolume};
    if (place.skipped) return PlaceOutcome{.state = api::transfer_state::kSkipped};
    const auto failed = [&](const carry::Failure& failure) {
      const bool stopped = failure.kind == carry::FailureKind::kStopped;
      return base::fail(stopped ? base::ErrorCode::kCancelled : base::ErrorCode::kIo,
                        title_of(place) + ": " + failure.message);
    };
    auto known = credentials_.find(place.secret);
    if (known == credentials_.end()) {
      auto read = bucket_credentials(session, place.secret, from_environment_, context.err, context.stop);
      if (!read) return tl::unexpected<base::Error>(read.error());
      known = credentials_.emplace(place.secret, *std::move(read)).first;
    }
    const auto bucket = carry::s3::Session::open(*place.to.s3, known->second, *carry::real_waiting().clock);
    if (!bucket) return failed(bucket.error());
    const carry::s3::Context own{.deadline = std::chrono::steady_clock::now() + kForFiles,
                                 .stop = context.stop};
    auto fetched = fetch_place(**bucket, place, options_, own);
    if (!fetched) return failed(fetched.error());
    if (fetched->complete) return PlaceOutcome{api::transfer_state::kComplete, fetched->done, ""};
    const auto why = fetched->why + (place.why.empty() ? "" : "; the job says: " + place.why);
    return PlaceOutcome{incomplete_ ? api::transfer_state::kIncomplete : kMissing, fetched->done, why};
  }

  // What was fetched goes to out, and what was not to err.
  void tell(const Place& place, const PlaceOutcome& outcome, command::Context& context) const {
    const std::string title = title_of(place);
    const std::string directory = options_.to + "/" + place.directory;
    if (outcome.state == kInVolume) {
      const auto& volume = *place.to.volume;
      const auto inner = volume.path.empty() ? std::string() : "/" + volume.path;
      context.err << plain_text(title + " is in no bucket, but in the volume of the PersistentVolumeClaim " +
                                volume.claim_name + ", at /" + volume.path +
                                ". From a pod that mounts the claim at /results:")
                  << "\n  "
                  << plain_text("kubectl cp -n " + options_.ns + " POD:/results" + inner + " " + directory)
                  << "\n";
      return;
    }
    if (outcome.state == api::transfer_state::kSkipped) {
      context.err << title << " was not saved: `when` in spec.results does not want it of this attempt\n";
      return;
    }
    if (!outcome.why.empty()) {
      context.err << plain_text(title + " of attempt " + std::to_string(place.attempt) +
                                " is not complete in " + location_of(place) + ": " + outcome.why)
                  << (incomplete_ ? "\n" : "\nWith --incomplete, what is there is fetched.\n");
    }
    if (outcome.state == kMissing || !output_.empty()) return;
    const auto& done = outcome.done;
    context.out << title << ": " << done.files << (done.files == 1 ? " file, " : " files, ")
                << screen::bytes_text(done.bytes) << " in " << plain_text(directory);
    if (done.kept > 0) context.out << ", " << done.kept << " of them there already";
    context.out << "\n" << std::flush;
  }

  Json json_of(const Place& place, const PlaceOutcome& outcome) const {
    Json json{{"from", place.from},
              {"rank", place.rank},
              {"location", location_of(place)},
              {"state", outcome.state},
              {"directory", options_.to + "/" + place.directory},
              {"files", outcome.done.files},
              {"bytes", outcome.done.bytes},
              {"kept", outcome.done.kept}};
    if (!outcome.why.empty()) json["message"] = outcome.why;
    return json;
  }

  std::string job_;
  std::string to_;
  Choice choice_;
  bool incomplete_ = false;
  bool from_environment_ = false;
  std::string output_;
  FetchOptions options_;
  std::map<std::string, carry::s3::Credentials> credentials_;  // by Secret
};

}  // namespace

std::unique_ptr<command::Command> make_results() { return std::make_unique<Results>(); }

}  // namespace gpupool::results
