// SPDX-License-Identifier: Apache-2.0
#include "submit/run.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "command/duration.h"
#include "jobs/await_end.h"
#include "logs/show_logs.h"
#include "objects/output.h"
#include "screen/plain_text.h"
#include "submit/git_reference.h"
#include "submit/manifest.h"
#include "submit/manifest_file.h"
#include "submit/script_file.h"

namespace gpupool::submit {
namespace {

using Json = nlohmann::ordered_json;
using objects::Script;

constexpr std::int64_t kMostGpus = 64000;
constexpr std::int64_t kMostPriority = 1000000;
constexpr std::int64_t kLeastSync = 10;  // seconds
constexpr std::int64_t kMostSync = 86400;

// What is to be created.
struct Plan {
  std::string manifest;
  std::optional<Script> script = std::nullopt;
};

class Run final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "run",
        .summary = "Create a job: from a command, a script or a file",
        .text =
            "A SCRIPT of this machine (at most 900 KiB) is sent along in a ConfigMap that belongs to the "
            "job, and runs\n"
            "by its #! line, or by python3 or sh if it is called *.py or *.sh. The words after -- are its "
            "arguments;\n"
            "without a script they are the command. With -f the job is what the file says, except for the "
            "flags given.\n"
            "With --wait the program ends when the job has ended, with the job's exit code (see wait). With "
            "--follow\n"
            "it also prints what the workers print, as logs -f does.\n"
            "URLs of sources are https://HOST/FILE[#sha256=HEX], s3://BUCKET/KEY, s3://BUCKET/PREFIX/ and\n"
            "git+https://HOST/REPOSITORY[//DIRECTORY]@REF. REF is a commit, or a branch or tag, of which "
            "this "
            "machine asks\n"
            "the repository for the commit; if that wants credentials, they are taken from GIT_USERNAME and "
            "GIT_PASSWORD,\n"
            "never from the cluster. URLs of results are s3://BUCKET/PREFIX and pvc://CLAIM/PATH, where "
            "$(job), $(namespace),\n"
            "$(attempt) and $(rank) stand for their values.",
        .example =
            "  kubectl gpupool run hello --pool lab --image busybox -- echo hello\n"
            "  kubectl gpupool run resnet --pool lab --gpus 4 --image pytorch/pytorch train.py -- --epochs "
            "3\n"
            "  kubectl gpupool run -f job.yaml --follow\n"
            "  kubectl gpupool run resnet --pool lab --image x train.py --dry-run=client -o yaml > job.yaml\n"
            "  kubectl gpupool run resnet --pool lab --image x --source "
            "code=git+https://git.example.com/resnet.git@main \\\n"
            "    --source data=s3://datasets/imagenet/ --source-secret data=bucket --result "
            "'out=s3://models/$(job)' \\\n"
            "    --result-secret bucket -- python3 code/train.py",
        .trailing = "ARG..."};
  }

  void add_flags(command::Flags& flags) override {
    flags.optional_argument("NAME", wanted_.name, "Name of the job; with -f default: that in the file",
                            command::Offer::kNothing);
    flags.optional_argument("SCRIPT", script_, "File of this machine to run", command::Offer::kFiles);
    flags.text("-f,--filename", file_, "FILE", "GpuJob in YAML or JSON; - for the standard input",
               command::Offer::kFiles);
    flags.text("--pool", wanted_.pool, "POOL", "GpuPool to run in", command::Offer::kPools);
    flags.text("--image", wanted_.image, "IMAGE", "Container image to run in");
    flags.number("--gpus", wanted_.gpus, "N", "GPUs in all; default 1", 1, kMostGpus);
    flags.number("--gpus-per-worker", wanted_.gpus_per_worker, "N", "GPUs of each worker; default 1", 1, 64);
    flags.number("--slices", wanted_.slices, "N", "In a pool with sharing: slices of one GPU for each worker",
                 1, 100);
    flags.text("--slice-memory", wanted_.slice_memory, "SIZE",
               "In a pool with sharing: GPU memory of each worker, such as 4Gi");
    flags.number("--slice-cores", wanted_.slice_cores, "PERCENT",
                 "In a pool with sharing: share of a GPU's cores", 1, 100);
    flags.number("--priority", wanted_.priority, "N", "Higher numbers leave the queue first; default 0",
                 -kMostPriority, kMostPriority);
    flags.number("--backoff-limit", wanted_.backoff_limit, "N", "Crashes that are forgiven; default 3", 0,
                 1000);
    flags.duration("--deadline", deadline_, "The job fails if it has not ended this long after its start");
    flags.text("--cpu", wanted_.cpu, "CPUS", "CPUs of each worker, such as 4");
    flags.text("--memory", wanted_.memory, "SIZE", "Memory of each worker, such as 16Gi");
    flags.texts("-e,--env", wanted_.env, "NAME=VALUE", "Environment variable; may be repeated");
    flags.texts("--label", wanted_.labels, "KEY=VALUE", "Label of the job; may be repeated");
    flags.texts("--claim", wanted_.claims, "CLAIM:/DIR", "PersistentVolumeClaim to mount; may be repeated");
    add_data_flags(flags);
    flags.choice("--dry-run", dry_run_, {"none", "client", "server"},
                 "Create nothing: only print, or also let the server check");
    flags.yes("--wait", wait_, "Wait until the job has ended, and end with its exit code");
    flags.yes("--follow", follow_, "Like --wait, and print what rank 0 and ranks that fail print");
    flags.duration("--timeout", timeout_, "With --wait: longest time to wait");
    objects::add_output_flag(flags, output_, {"json", "yaml", "name"});
  }

  base::Result<int> run(command::Context& context) override {
    if (auto fits = check_flags(); !fits) return tl::unexpected<base::Error>(fits.error());
    if (deadline_)
      wanted_.deadline_seconds = std::chrono::duration_cast<std::chrono::seconds>(*deadline_).count();
    auto data = read_data_flags(data_flags_);
    if (!data) return tl::unexpected<base::Error>(data.error());
    wanted_.data = *std::move(data);
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    wanted_.ns = (*session)->ns();
    const auto plan = make_plan(context);
    if (!plan) return tl::unexpected<base::Error>(plan.error());
    if (dry_run_ == "client") {
      print_plan(*plan, context);
      return command::exit_code::kGood;
    }
    return carry_out(*plan, **session, context);
  }

 private:
  void add_data_flags(command::Flags& flags) {
    flags.texts("--source", data_flags_.sources, "PATH=URL",
                "Fetch URL to PATH below /gpupool/work of every worker; may be repeated");
    flags.texts("--unpack", data_flags_.unpack, "PATH",
                "The source at PATH is an archive, which is unpacked; may be repeated");
    flags.texts("--source-secret", data_flags_.source_secrets, "[PATH=]NAME",
                "Secret with the credentials for all sources, or for that at PATH; may be repeated");
    flags.texts("--result", data_flags_.results, "FROM=URL",
                "Save FROM below /gpupool/work to URL at the end; may be repeated");
    flags.text("--result-secret", data_flags_.result_secret, "NAME",
               "Secret with the credentials for results in s3://");
    flags.number("--sync", data_flags_.sync_seconds, "SECONDS",
                 "Save results also while the command runs, so often", kLeastSync, kMostSync);
    flags.text("--s3-endpoint", data_flags_.s3_endpoint, "URL",
               "Server of all s3:// sources and results; default: AWS");
    flags.text("--s3-region", data_flags_.s3_region, "REGION", "Region of all s3:// sources and results");
  }

  // Puts commits in the place of branches and tags, and says so.
  base::Result<bool> resolve_references(command::Context& context) {
    bool any = false;
    for (auto& item : wanted_.data.source) {
      if (!item.git || is_commit(item.git->commit)) continue;
      auto commit = resolve_reference(*item.git, context.stop);
      if (!commit) return base::in_context(commit.error(), "--source " + item.path);
      context.err << screen::plain_text(item.path + ": " + item.git->commit + " is " + *commit) << "\n";
      item.git->commit = *std::move(commit);
      any = true;
    }
    return any;
  }

  base::Result<void> check_flags() const {
    const auto refuse = [](const char* why) { return base::fail(base::ErrorCode::kInvalidArgument, why); };
    if (timeout_ && !wait_) return refuse("--timeout needs --wait");
    if (wait_ && follow_) return refuse("--wait and --follow exclude each other: --follow waits, too");
    if (wait_ && dry_run_ != "none") return refuse("--wait cannot be used with --dry-run");
    if (follow_ && dry_run_ != "none") return refuse("--follow cannot be used with --dry-run");
    if (follow_ && !output_.empty()) return refuse("--follow cannot be used with --output");
    return {};
  }

  base::Result<Plan> make_plan(command::Context& context) {
    if (!file_.empty()) {
      if (!script_.empty())
        return base::fail(base::ErrorCode::kInvalidArgument, "a script and -f cannot be used together");
      wanted_.command = context.trailing;
      const auto file = read_manifest(file_, context.in);
      if (!file) return tl::unexpected<base::Error>(file.error());
      auto manifest = changed_manifest(*file, wanted_);
      if (!manifest) return tl::unexpected<base::Error>(manifest.error());
      return Plan{std::move(*manifest)};
    }
    if (wanted_.name.empty()) return base::fail(base::ErrorCode::kInvalidArgument, "NAME is required");
    std::optional<Script> script;
    if (!script_.empty()) {
      auto sent = read_script(script_, wanted_.name);
      if (!sent) return tl::unexpected<base::Error>(sent.error());
      script = std::move(sent->script);
      wanted_.command = std::move(sent->command);
    }
    wanted_.command.insert(wanted_.command.end(), context.trailing.begin(), context.trailing.end());
    auto manifest = manifest_of(wanted_, script);
    if (!manifest) return tl::unexpected<base::Error>(manifest.error());
    // Only now, when all else is known to be right, is a server asked.
    const auto resolved = resolve_references(context);
    if (!resolved) return tl::unexpected<base::Error>(resolved.error());
    if (*resolved) manifest = manifest_of(wanted_, script);
    return Plan{std::move(*manifest), std::move(script)};
  }

  void print_plan(const Plan& plan, command::Context& context) const {
    if (output_ == "name" || output_.empty()) {
      context.out << "gpujob.gpupool.dev/"
                  << Json::parse(plan.manifest)["metadata"]["name"].get<std::string>()
                  << (output_.empty() ? " created (dry run)\n" : "\n");
      return;
    }
    if (plan.script) {
      const std::string map = objects::config_map_of(*plan.script, wanted_.ns, nullptr);
      if (output_ == "json") {
        const Json list{{"apiVersion", "v1"},
                        {"kind", "List"},
                        {"items", {Json::parse(map), Json::parse(plan.manifest)}}};
        context.out << objects::printed(list.dump(), output_);
        return;
      }
      context.out << objects::printed(map, output_) << "---\n";
    }
    context.out << objects::printed(plan.manifest, output_);
  }

  base::Result<int> carry_out(const Plan& plan, command::Session& session, command::Context& context) const {
    if (dry_run_ == "server") {
      const auto tried =
          session.client().try_create(api::GpuJob::kType, wanted_.ns, plan.manifest, context.stop);
      const auto job = kube::decode<api::GpuJob>(tried);
      if (!job) return tl::unexpected<base::Error>(job.error());
      if (output_ == "json" || output_ == "yaml") {
        context.out << objects::printed(*tried, output_);
      } else {
        context.out << "gpujob.gpupool.dev/" << job->metadata.name
                    << (output_ == "name" ? "\n" : " created (server dry run)\n");
      }
      return command::exit_code::kGood;
    }
    const auto job = objects::create_job(session, plan.manifest, plan.script, context.stop);
    if (!job) return tl::unexpected<base::Error>(job.error());
    const std::string name = "gpujob.gpupool.dev/" + job->metadata.name;
    if (output_ == "json" || output_ == "yaml") {
      const auto text = session.client().get(api::GpuJob::kType, job->metadata.key(), context.stop);
      if (!text) return tl::unexpected<base::Error>(text.error());
      context.out << objects::printed(*text, output_);
    } else {
      context.out << name << (output_ == "name" ? "\n" : " created\n");
    }
    context.out.flush();
    if (follow_) return logs::show_logs({.job = job->metadata.name, .follow = true, .exit = true}, context);
    if (!wait_) return command::exit_code::kGood;
    return jobs::await_end(context, session,
                           {.name = job->metadata.name, .uid = job->metadata.uid, .timeout = timeout_});
  }

  Wanted wanted_;
  DataFlags data_flags_;
  std::string script_;
  std::string file_;
  std::string dry_run_ = "none";
  std::string output_;
  std::optional<std::chrono::milliseconds> deadline_;
  std::optional<std::chrono::milliseconds> timeout_;
  bool wait_ = false;
  bool follow_ = false;
};

}  // namespace

std::unique_ptr<command::Command> make_run() { return std::make_unique<Run>(); }

}  // namespace gpupool::submit
