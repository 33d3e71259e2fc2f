// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/graphs.h"
#include "tests/fake-cuda/streams.h"

// The driver's functions about graphs. Dependencies are not kept: nodes run in the order in which they were
// added.
using namespace gpupool::fake_cuda;

namespace {

using Dependencies = GraphNode* const*;

template <class Body>
Result call_for_graph(const char* name, Graph* graph, Body body) {
  return call(name, [&](Driver& d) {
    return d.objects().graphs.contains(graph) ? body(d, *graph) : Result::kInvalidValue;
  });
}

Result add_plain(const char* name, GraphNode** out, Graph* graph, NodeType type) {
  return call_for_graph(name, graph, [&](Driver&, Graph& known) {
    return out != nullptr ? put(out, add_node(known, type)) : Result::kInvalidValue;
  });
}

Result instantiate(const char* name, GraphExec** out, Graph* graph, std::uint64_t flags) {
  return call_for_graph(name, graph, [&](Driver& d, const Graph& known) {
    if (out == nullptr) return Result::kInvalidValue;
    const auto nodes = all_nodes(known);
    // A graph that allocates has one executable at a time.
    for (const auto& node : nodes) {
      if (node->memory == nullptr) continue;
      for (const GraphExec* other : d.objects().graph_execs) {
        if (std::ranges::find(other->nodes, node) != other->nodes.end()) return Result::kNotSupported;
      }
    }
    *out = new GraphExec{.nodes = nodes, .flags = flags};
    d.objects().graph_execs.insert(*out);
    return Result::kSuccess;
  });
}

// Nodes that allocate cannot be updated.
Result update(const char* name, GraphExec* exec, Graph* graph) {
  return call_for_graph(name, graph, [&](Driver& d, const Graph& known) {
    if (!d.objects().graph_execs.contains(exec)) return Result::kInvalidValue;
    const auto fresh = all_nodes(known);
    const auto same = [](const auto& one, const auto& other) {
      return one->type == other->type && one->memory == nullptr && other->memory == nullptr;
    };
    if (!std::ranges::equal(exec->nodes, fresh, same)) return Result::kGraphExecUpdateFailure;
    exec->nodes = fresh;
    return Result::kSuccess;
  });
}

template <class Body>
Result call_for_exec(const char* name, GraphExec* exec, Stream* handle, Body body) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    Stream* const stream = stream_of(d, context, handle);
    if (stream == nullptr || !d.objects().graph_execs.contains(exec)) return Result::kInvalidValue;
    return body(d, *stream);
  });
}

}  // namespace

CUDA_FUNCTION(cuGraphCreate)(Graph** out, unsigned int flags) {
  return call(__func__, [&](Driver& d) {
    return out != nullptr && flags == 0 ? put(out, make_graph(d)) : Result::kInvalidValue;
  });
}
CUDA_FUNCTION(cuGraphDestroy)(Graph* graph) {
  return call_for_graph(__func__, graph, [](Driver& d, Graph& known) {
    destroy_graph(d, &known);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuGraphGetNodes)(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return call_for_graph(__func__, graph, [&](Driver&, const Graph& known) {
    if (count == nullptr) return Result::kInvalidValue;
    if (nodes != nullptr) {
      for (std::size_t i = 0; i < *count; ++i)
        nodes[i] = i < known.nodes.size() ? known.nodes[i].get() : nullptr;
    }
    *count = nodes != nullptr ? std::min(*count, known.nodes.size()) : known.nodes.size();
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuGraphNodeGetType)(GraphNode* node, int* out) {
  return call(__func__, [&](Driver& d) {
    for (const Graph* graph : d.objects().graphs) {
      for (const auto& known : graph->nodes) {
        if (known.get() == node) return put(out, node->type);
      }
    }
    return Result::kInvalidValue;
  });
}

CUDA_FUNCTION(cuGraphAddEmptyNode)(GraphNode** out, Graph* graph, Dependencies, std::size_t) {
  return add_plain(__func__, out, graph, NodeType::kEmpty);
}
CUDA_FUNCTION(cuGraphAddKernelNode)(GraphNode** out, Graph* graph, Dependencies, std::size_t, const void*) {
  return add_plain(__func__, out, graph, NodeType::kKernel);
}
CUDA_FUNCTION(cuGraphAddKernelNode_v2)(GraphNode** out, Graph* graph, Dependencies, std::size_t,
                                       const void*) {
  return add_plain(__func__, out, graph, NodeType::kKernel);
}
CUDA_FUNCTION(cuGraphAddMemAllocNode)
(GraphNode** out, Graph* graph, Dependencies, std::size_t, MemAllocNodeParams* parameters) {
  return call_for_graph(__func__, graph, [&](Driver& d, Graph& known) {
    if (out == nullptr || parameters == nullptr) return Result::kInvalidValue;
    if (parameters->pool.location.type != kLocationDevice) return Result::kNotSupported;
    Device* const device = d.device(parameters->pool.location.id);
    if (device == nullptr) return Result::kInvalidDevice;
    return add_allocation(d, known, *device, parameters->bytes, &parameters->pointer, out);
  });
}
CUDA_FUNCTION(cuGraphAddMemFreeNode)(GraphNode** out, Graph* graph, Dependencies, std::size_t,
                                     Pointer address) {
  return call_for_graph(__func__, graph, [&](Driver& d, Graph& known) {
    return out != nullptr ? add_free(d, known, address, out) : Result::kInvalidValue;
  });
}

CUDA_FUNCTION(cuGraphInstantiate)(GraphExec** out, Graph* graph, GraphNode** error, char*, std::size_t) {
  if (error != nullptr) *error = nullptr;
  return instantiate(__func__, out, graph, 0);
}
CUDA_FUNCTION(cuGraphInstantiate_v2)(GraphExec** out, Graph* graph, GraphNode** error, char*, std::size_t) {
  if (error != nullptr) *error = nullptr;
  return instantiate(__func__, out, graph, 0);
}
CUDA_FUNCTION(cuGraphInstantiateWithFlags)(GraphExec** out, Graph* graph, std::uint64_t flags) {
  return instantiate(__func__, out, graph, flags);
}
CUDA_FUNCTION(cuGraphInstantiateWithParams)(GraphExec** out, Graph* graph, GraphInstantiateParams* params) {
  if (params == nullptr) return Result::kInvalidValue;
  params->error_node = nullptr;
  params->result = 0;
  return instantiate(__func__, out, graph, params->flags);
}
CUDA_FUNCTION(cuGraphExecUpdate)(GraphExec* exec, Graph* graph, GraphNode** error, int* why) {
  if (error != nullptr) *error = nullptr;
  const Result code = update(__func__, exec, graph);
  return why != nullptr ? put(why, code == Result::kSuccess ? 0 : 1), code : code;
}
CUDA_FUNCTION(cuGraphExecUpdate_v2)(GraphExec* exec, Graph* graph, GraphUpdateInfo* info) {
  const Result code = update(__func__, exec, graph);
  if (info != nullptr) *info = {code == Result::kSuccess ? 0 : 1, nullptr, nullptr};
  return code;
}
CUDA_FUNCTION(cuGraphExecDestroy)(GraphExec* exec) {
  return call(__func__, [&](Driver& d) {
    if (d.objects().graph_execs.erase(exec) == 0) return Result::kInvalidValue;
    delete exec;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuGraphUpload)(GraphExec* exec, Stream* stream) {
  return call_for_exec(__func__, exec, stream, [&](Driver& d, Stream&) { return reserve_for(d, *exec); });
}
CUDA_FUNCTION(cuGraphLaunch)(GraphExec* exec, Stream* stream) {
  return call_for_exec(__func__, exec, stream, [&](Driver& d, Stream& known) {
    if (known.capture != nullptr) return Result::kStreamCaptureUnsupported;
    return run_graph(d, *exec, known);
  });
}

CUDA_FUNCTION(cuDeviceGraphMemTrim)(Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [](Driver& d, Device& device) {
    trim_graph_memory(d, device);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuDeviceGetGraphMemAttribute)(Ordinal ordinal, int attribute, std::uint64_t* value) {
  return call_for_device(__func__, ordinal, [&](Driver&, const Device& device) {
    const std::uint64_t values[] = {device.graph_used, device.graph_used_high, device.graph_reserved,
                                    device.graph_reserved_high};
    return attribute >= 0 && attribute < 4 ? put(value, values[attribute]) : Result::kInvalidValue;
  });
}
CUDA_FUNCTION(cuDeviceSetGraphMemAttribute)(Ordinal ordinal, int attribute, const std::uint64_t* value) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    if (value == nullptr || *value != 0 || (attribute != 1 && attribute != 3)) return Result::kInvalidValue;
    (attribute == 1 ? device.graph_used_high : device.graph_reserved_high) =
        attribute == 1 ? device.graph_used : device.graph_reserved;
    return Result::kSuccess;
  });
}
