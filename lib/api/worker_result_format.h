// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The result of a worker: one line of JSON that gpupool-launch leaves in the termination message of its
// container and the operator reads. The launcher writes it (launcher/result.h), the operator reads it
// (planning/workers/worker_result.h); what both must agree on stands here. Needs libc alone: the static
// launcher includes it.
namespace gpupool::api::worker_result {

// Raised when a reader of the present version would misread. A new field does not raise it: readers ignore
// fields that they do not know.
inline constexpr int kVersion = 1;

// Files in the launcher's directory. The mark is there from the start of the command; while it is locked, the
// launcher lives. The result is whole if it ends with a brace.
inline constexpr std::string_view kMarkFile = "mark";
inline constexpr std::string_view kResultFile = "result.json";
// The program reads the notice, and writes the report. Both are written by rename, so they are whole.
inline constexpr std::string_view kNoticeFile = "notice.json";  // {"deadline":"2026-11-24T10:00:00Z"}
inline constexpr std::string_view kReportFile = "report.json";  // {"step":1200,"path":"step-1200"}

// Fields, in the order in which they are written. A kubelet may cut a message at its end: of what is left, an
// operator can use a result that is whole up to kAttemptField.
inline constexpr std::string_view kVersionField = "version";    // number
inline constexpr std::string_view kOutcomeField = "outcome";    // one of the texts below
inline constexpr std::string_view kExitCodeField = "exitCode";  // number; of a signal: 128 + its number
inline constexpr std::string_view kSignalField = "signal";      // number; only if the command was killed
// Number; only if the launcher was told to stop before the command ended.
inline constexpr std::string_view kStopSignalField = "stopSignal";
inline constexpr std::string_view kAttemptField = "attempt";        // number, as in the launcher's flag
inline constexpr std::string_view kRankField = "rank";              // number, as in the launcher's flag
inline constexpr std::string_view kFinishedAtField = "finishedAt";  // RFC 3339
inline constexpr std::string_view kStartedAtField = "startedAt";  // RFC 3339; only if the command was started
// Text: what the command wrote into its report file last, as it is; the operator reads it as an object with
// `step` and `path`. Only with a report file that could be read.
inline constexpr std::string_view kReportField = "report";
inline constexpr std::string_view kReportedAtField = "reportedAt";    // RFC 3339: when the report was written
inline constexpr std::string_view kReportErrorField = "reportError";  // text: why it could not be read
inline constexpr std::string_view kReasonField = "reason";            // CamelCase
inline constexpr std::string_view kMessageField = "message";          // for people
// Array of texts; only if numbers were asked for and came: "NAME LAST STEP LEAST STEP GREATEST STEP COUNT
// BAD". BAD: how many of COUNT were not finite. A step or value that never came is kMetricNone.
inline constexpr std::string_view kMetricsField = "metrics";
inline constexpr std::string_view kOtherMetricsField =
    "otherMetrics";                                     // array of names; only if one never came
inline constexpr std::string_view kTailField = "tail";  // the last lines that the command printed

// Outcomes.
inline constexpr std::string_view kExited = "exited";          // the command ended by itself
inline constexpr std::string_view kSignaled = "signaled";      // a signal killed the command
inline constexpr std::string_view kNotStarted = "notStarted";  // the command never ran
// The command was started, and the launcher died before its end.
inline constexpr std::string_view kInterrupted = "interrupted";

// What the launcher prints, alone on a line, when its container was started again and the command is not run
// again. Readers of logs know by it that the command's output is in the log of the container's first start.
inline constexpr std::string_view kPrintedBy = "gpupool-launch: ";
inline constexpr std::string_view kRepeats =
    " and is not run again; its output is in the logs of the container's first start";
inline constexpr std::string_view kWasInterrupted =
    "an earlier start was interrupted; the command is not run again";

// Bytes of the whole line. A kubelet cuts the message of a container at 4096 bytes and keeps 12 KiB for all
// containers of a pod (pkg/kubelet/status, normalizeStatus).
inline constexpr int kMinBytes = 128;
inline constexpr int kMaxBytes = 3072;
inline constexpr int kBytesOfPod = 12'288;
// Bytes of single texts, as JSON writes them.
inline constexpr int kMaxReasonBytes = 64;
inline constexpr int kMaxMessageBytes = 512;
inline constexpr int kMaxTailBytes = 2048;
inline constexpr int kMaxMetricsBytes = 1024;  // the texts of kMetricsField
inline constexpr int kMaxReportBytes = 300;    // of the report file
inline constexpr int kMaxReportErrorBytes = 120;
// Numbers that a command reports.
inline constexpr std::size_t kMaxMetrics = 16;
inline constexpr std::size_t kMaxMetricNameBytes = 63;
inline constexpr std::size_t kMaxOtherMetrics = 8;
inline constexpr int kMetricDigits = 9;  // significant decimal digits
inline constexpr std::string_view kMetricNone = "-";

// The most bytes of the result in a pod with so many containers, init containers included.
// REQUIRES: containers > 0.
constexpr int max_bytes(std::int64_t containers) {
  return static_cast<int>(std::clamp<std::int64_t>(kBytesOfPod / containers, kMinBytes, kMaxBytes));
}

}  // namespace gpupool::api::worker_result
