// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// How the operator asks gpupool-launch of rank 0 for the numbers of a running command, over TCP and to the
// address of the pod, so that no write to the API server is needed. The launcher answers
// (launcher/metric_server.h), the operator asks (controllers/sweep/live_metrics.h). Needs libc alone: the
// static launcher includes it.
//
// The operator sends the UID of the GpuJob and a newline. The launcher answers kGreeting, then a line for
// each metric that has reached a step asked for, "NAME LAST LEAST GREATEST LAST LEAST GREATEST ...": three
// numbers for each such step, and closes. Numbers are as in a worker's result (worker_result_format.h),
// kMetricNone if none was finite. To another request it answers nothing: the address may have belonged to
// another pod.
namespace gpupool::api::live_metrics {

inline constexpr std::uint16_t kPort = 29499;
inline constexpr std::string_view kGreeting = "gpupool-metrics 1\n";
inline constexpr std::size_t kMaxRequestBytes = 64;
// 16 metrics with 63 bytes of name and 16 steps of three numbers each fit.
inline constexpr std::size_t kMaxAnswerBytes = 16'384;
inline constexpr std::size_t kMaxSteps = 16;

}  // namespace gpupool::api::live_metrics
