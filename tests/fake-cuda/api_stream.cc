// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/graphs.h"
#include "tests/fake-cuda/streams.h"

// The driver's functions about streams and events. Nothing is ever pending.
using namespace gpupool::fake_cuda;

namespace {

// `body(driver, stream)` for a stream that is one.
template <class Body>
Result call_for_stream(const char* name, Stream* handle, Body body) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    Stream* const stream = stream_of(d, context, handle);
    return stream != nullptr ? body(d, *stream) : Result::kInvalidHandle;
  });
}

template <class Body>
Result call_for_event(const char* name, Event* event, Body body) {
  return call(name, [&](Driver& d) {
    return d.objects().events.contains(event) ? body(d, *event) : Result::kInvalidHandle;
  });
}

Result make_stream(const char* name, Stream** out, unsigned int flags, int priority) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    if (out == nullptr || flags > 1) return Result::kInvalidValue;
    *out = new Stream{.context = &context, .flags = flags, .priority = priority};
    d.objects().streams.insert(*out);
    return Result::kSuccess;
  });
}

Result destroy_stream(const char* name, Stream* stream) {
  return call(name, [&](Driver& d) {
    if (d.objects().streams.erase(stream) == 0) return Result::kInvalidHandle;
    delete stream;
    return Result::kSuccess;
  });
}

Result destroy_event(const char* name, Event* event) {
  return call(name, [&](Driver& d) {
    if (d.objects().events.erase(event) == 0) return Result::kInvalidHandle;
    delete event;
    return Result::kSuccess;
  });
}

Result record(const char* name, Event* event, Stream* stream) {
  return call_for_stream(name, stream, [&](Driver& d, const Stream& known) {
    if (!d.objects().events.contains(event)) return Result::kInvalidHandle;
    event->recorded = true;
    event->at_ns = known.clock_ns;
    return Result::kSuccess;
  });
}

Result elapsed(const char* name, float* milliseconds, Event* first, Event* second) {
  return call(name, [&](Driver& d) {
    const auto& events = d.objects().events;
    if (!events.contains(first) || !events.contains(second)) return Result::kInvalidHandle;
    if (((first->flags | second->flags) & kEventDisableTiming) != 0) return Result::kInvalidHandle;
    if (!first->recorded || !second->recorded) return Result::kInvalidHandle;
    const auto passed = static_cast<std::int64_t>(second->at_ns - first->at_ns);
    return put(milliseconds, static_cast<double>(passed) / 1e6);
  });
}

}  // namespace

CUDA_FUNCTION(cuStreamCreate)(Stream** out, unsigned int flags) {
  return make_stream(__func__, out, flags, 0);
}
CUDA_FUNCTION(cuStreamCreateWithPriority)(Stream** out, unsigned int flags, int priority) {
  return make_stream(__func__, out, flags, priority);
}
CUDA_FUNCTION(cuStreamDestroy)(Stream* stream) { return destroy_stream(__func__, stream); }
CUDA_FUNCTION(cuStreamDestroy_v2)(Stream* stream) { return destroy_stream(__func__, stream); }
CUDA_FUNCTION(cuStreamSynchronize)(Stream* stream) {
  return call_for_stream(__func__, stream, [](Driver& d, const Stream& known) {
    if (known.capture != nullptr) return Result::kStreamCaptureUnsupported;
    synchronised(d, *known.context);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuStreamQuery)(Stream* stream) {
  return call_for_stream(__func__, stream, [](Driver&, const Stream& known) {
    return known.capture != nullptr ? Result::kStreamCaptureUnsupported : Result::kSuccess;
  });
}
CUDA_FUNCTION(cuStreamGetFlags)(Stream* stream, unsigned int* out) {
  return call_for_stream(__func__, stream,
                         [&](Driver&, const Stream& known) { return put(out, known.flags); });
}
CUDA_FUNCTION(cuStreamGetPriority)(Stream* stream, int* out) {
  return call_for_stream(__func__, stream,
                         [&](Driver&, const Stream& known) { return put(out, known.priority); });
}
CUDA_FUNCTION(cuStreamGetCtx)(Stream* stream, Context** out) {
  return call_for_stream(__func__, stream,
                         [&](Driver&, const Stream& known) { return put(out, known.context); });
}
CUDA_FUNCTION(cuStreamWaitEvent)(Stream* stream, Event* event, unsigned int) {
  return call_for_stream(__func__, stream, [&](Driver& d, Stream& known) {
    if (!d.objects().events.contains(event)) return Result::kInvalidHandle;
    if (event->recorded) known.clock_ns = std::max(known.clock_ns, event->at_ns);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuLaunchHostFunc)(Stream* stream, void (*function)(void*), void* data) {
  const Result code = call_for_stream(__func__, stream, [](Driver&, const Stream& known) {
    return known.capture != nullptr ? Result::kStreamCaptureUnsupported : Result::kSuccess;
  });
  if (code == Result::kSuccess && function != nullptr) function(data);
  return code;
}
CUDA_FUNCTION(cuStreamAddCallback)
(Stream* stream, void (*function)(Stream*, Result, void*), void* data, unsigned int) {
  const Result code = call_for_stream(__func__, stream, [](Driver&, const Stream& known) {
    return known.capture != nullptr ? Result::kStreamCaptureUnsupported : Result::kSuccess;
  });
  if (code == Result::kSuccess && function != nullptr) function(stream, Result::kSuccess, data);
  return code;
}

CUDA_FUNCTION(cuEventCreate)(Event** out, unsigned int flags) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    if (out == nullptr || flags > 7) return Result::kInvalidValue;
    *out = new Event{.context = &context, .flags = flags};
    d.objects().events.insert(*out);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuEventDestroy)(Event* event) { return destroy_event(__func__, event); }
CUDA_FUNCTION(cuEventDestroy_v2)(Event* event) { return destroy_event(__func__, event); }
CUDA_FUNCTION(cuEventRecord)(Event* event, Stream* stream) { return record(__func__, event, stream); }
CUDA_FUNCTION(cuEventRecordWithFlags)(Event* event, Stream* stream, unsigned int) {
  return record(__func__, event, stream);
}
CUDA_FUNCTION(cuEventQuery)(Event* event) {
  return call_for_event(__func__, event, [](Driver&, const Event&) { return Result::kSuccess; });
}
CUDA_FUNCTION(cuEventSynchronize)(Event* event) {
  return call_for_event(__func__, event, [](Driver& d, const Event& known) {
    synchronised(d, *known.context);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuEventElapsedTime)(float* out, Event* first, Event* second) {
  return elapsed(__func__, out, first, second);
}
CUDA_FUNCTION(cuEventElapsedTime_v2)(float* out, Event* first, Event* second) {
  return elapsed(__func__, out, first, second);
}

CUDA_FUNCTION(cuCtxSynchronize)() {
  return call_in_context(__func__, [](Driver& d, Context& context) {
    synchronised(d, context);
    return Result::kSuccess;
  });
}

CUDA_FUNCTION(cuCtxSynchronize_v2)(Context* context) {
  return call(__func__, [&](Driver& d) {
    if (!d.is_context(context)) return Result::kInvalidContext;
    synchronised(d, *context);
    return Result::kSuccess;
  });
}

CUDA_FUNCTION(cuStreamBeginCapture)(Stream* stream) {
  return call_for_stream(__func__, stream,
                         [](Driver& d, Stream& known) { return begin_capture(d, known, nullptr); });
}
CUDA_FUNCTION(cuStreamBeginCapture_v2)(Stream* stream, int) {
  return call_for_stream(__func__, stream,
                         [](Driver& d, Stream& known) { return begin_capture(d, known, nullptr); });
}
CUDA_FUNCTION(cuStreamBeginCaptureToGraph)
(Stream* stream, Graph* graph, GraphNode* const*, const void*, std::size_t, int) {
  return call_for_stream(__func__, stream, [&](Driver& d, Stream& known) {
    return d.objects().graphs.contains(graph) ? begin_capture(d, known, graph) : Result::kInvalidValue;
  });
}
CUDA_FUNCTION(cuStreamEndCapture)(Stream* stream, Graph** out) {
  return call_for_stream(__func__, stream, [&](Driver&, Stream& known) {
    if (known.capture == nullptr || out == nullptr) return Result::kIllegalState;
    *out = known.capture;
    known.capture = nullptr;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuStreamIsCapturing)(Stream* stream, int* out) {
  return call_for_stream(__func__, stream, [&](Driver&, const Stream& known) {
    return put(out, known.capture != nullptr ? 1 : 0);
  });
}
CUDA_FUNCTION(cuStreamGetCaptureInfo_v2)
(Stream* stream, int* status, std::uint64_t* id, Graph** graph, GraphNode* const** nodes,
 std::size_t* count) {
  return call_for_stream(__func__, stream, [&](Driver&, const Stream& known) {
    if (status == nullptr) return Result::kInvalidValue;
    *status = known.capture != nullptr ? 1 : 0;
    if (id != nullptr) *id = reinterpret_cast<std::uintptr_t>(known.capture);
    if (graph != nullptr) *graph = known.capture;
    if (nodes != nullptr) *nodes = nullptr;
    if (count != nullptr) *count = 0;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuThreadExchangeStreamCaptureMode)(int* mode) {
  return call(__func__, [&](Driver&) {
    thread_local int current = 0;
    if (mode == nullptr || *mode < 0 || *mode > 2) return Result::kInvalidValue;
    std::swap(current, *mode);
    return Result::kSuccess;
  });
}
