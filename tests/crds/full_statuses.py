# SPDX-License-Identifier: Apache-2.0
"""A status with every field that the operator writes (lib/api/v1alpha1): one missing in a schema would be lost."""

TIME = "2026-01-02T03:04:05Z"
UID = "00000000-0000-0000-0000-000000000001"
CONDITION = {"type": "Ready", "status": "True", "observedGeneration": 3, "lastTransitionTime": TIME,
             "reason": "WorkersRunning", "message": "text"}

TEXT = "x" * 512  # the most of each, as the operator cuts them
SOURCE = {"attempt": 2, "state": "Fetched", "bytes": 2 ** 40, "seconds": 86400,
          "items": [{"path": TEXT, "files": 10 ** 6, "bytes": 2 ** 40, "digest": TEXT, "message": TEXT}] * 32}
RESULTS = {"attempt": 2, "state": "Incomplete",
           "items": [{"path": TEXT, "state": "Incomplete", "to": TEXT, "files": 10 ** 6, "bytes": 2 ** 40, "digest": TEXT,
                      "message": TEXT}] * 8}

END = {"attempt": 2, "cause": "PlacementRefused", "nodes": "x" * 40, "left": "na", "at": TIME, "fromStep": 2 ** 53,
       "repeatedSeconds": 86400}

TERMS = {"pool": "x" * 20, "owner": "x" * 63, "currency": "EUR", "perGpuHour": "123.123456", "fee": 10, "gpus": 8, "slices": 3,
         "split": 10}
LONG_NODE = "gpu-rack07-node1000.example.org"
SEGMENT = {"number": 2 ** 40, "nodes": [LONG_NODE] * 31, "nodeCount": 31, "from": TIME, "to": TIME, "cost": "123456.123456",
           "carry": 359999, **TERMS}
BILL = {"currency": "EUR", "cost": "123456.123456", "gpuSeconds": 2 ** 40, "segmentCount": 2 ** 40, "carry": 359999,
        "open": [{"nodes": [LONG_NODE], "from": TIME, **TERMS}], "segments": [SEGMENT] * 32}

FULL_JOB_STATUS = {
    "observedGeneration": 3, "phase": "Running", "conditions": [CONDITION],
    "lease": {"id": UID + ".7", "state": "Releasing", "attempt": 2, "specHash": "0123456789abcdef",
              "slices": 3, "unit": "GPU", "nodes": [{"name": "na", "uid": UID, "workers": 2, "since": TIME}],
              "lost": [{"name": "nb", "uid": UID, "id": UID + ".6"}],
              "workload": UID, "outcome": "Failed", "since": TIME, "notBefore": TIME, "heldSince": TIME,
              "tenant": "nlp"},
    "leaseSequence": 7, "workers": {"total": 3, "running": 2, "succeeded": 1}, "attempts": 3, "failures": 2, "unexplainedLosses": 1,
    "startTime": TIME, "completionTime": TIME, "reason": "WorkerFailed", "message": "text", "nodeNames": "na,nb", "gpus": "6 slices",
    "master": "job-7-0.job-7",
    "explanation": {"request": "a1", "time": TIME, "text": "text", "wants": "6 slices", "sooner": ["text"],
                    "pool": {"name": "lab", "nodes": 16, "unsuited": 1, "notReady": 1, "cordoned": 1, "tainted": 1, "leased": 9,
                             "foreign": 1, "spare": 1, "free": 2, "gpus": {"total": 8, "free": 1}, "slices": {"total": 80, "free": 7},
                             "why": ["text"]},
                    "ahead": {"jobs": 5, "gpus": 11, "slices": 3, "higherPriority": 3, "yours": ["bert"]},
                    "start": {"from": TIME, "to": TIME, "latest": TIME, "basis": "Mixed", "samples": 34, "withoutDeadline": 1}},
    "metrics": {"attempt": 2, "missing": ["acc"], "otherNames": ["accuracy"],
                "values": [{"name": "loss", "last": "NaN", "step": 3, "min": "0.25", "minStep": 2, "max": "1e+20", "maxStep": 1,
                            "count": 3, "notFinite": 1}]},
    "source": SOURCE, "results": RESULTS, "bill": BILL, "activeSeconds": 5400, "restarted": "x" * 128,
    "checkpoint": {"step": 2 ** 53, "path": "x" * 256, "at": TIME}, "history": [END] * 10,
    "queue": {"tenant": "nlp", "reservedSince": TIME, "latestStart": TIME}}

TRIAL = {"trial": 17, "job": "tune-17", "value": "0.0312", "parameters": {"lr": "0.0031", "batch": "64"}}

FULL_SWEEP_STATUS = {
    "observedGeneration": 3, "phase": "Running", "conditions": [CONDITION], "reason": "TrialsRunning", "message": "text",
    "progress": "12/200", "counts": {"total": 200, "created": 32, "active": 20, "succeeded": 9, "failed": 2, "stopped": 1},
    "best": TRIAL, "top": [TRIAL], "results": ["0 S 0.5", "1 F", "17 S 0.0312"],
    "failures": [{"trial": 1, "reason": "BackoffLimitExceeded", "message": "text"}], "specHash": "0123456789abcdef",
    "startTime": TIME, "completionTime": TIME}

FULL_POOL_STATUS = {
    "observedGeneration": 3, "conditions": [CONDITION],
    "nodes": {"total": 6, "ready": 5, "unready": 1, "cordoned": 1, "leased": 2, "available": 2, "spare": 1},
    "gpus": {"total": 48, "leased": 16, "available": 16,
             "models": [{"model": "NVIDIA-H100-80GB-HBM3", "count": 48, "memory": "80Gi"}]},
    "slices": {"total": 480, "free": 160}, "jobs": {"queued": 4, "running": 1}, "excluded": [{"name": "nz", "reason": "text"}],
    "draining": [{"node": "na", "waitsFor": "ns/job", "deadline": TIME, "problem": "text"}],
    "queue": {"asOf": TIME, "holder": {"job": "nlp/big", "since": TIME, "workers": 16, "latestStart": TIME},
              "tenants": [{"name": "nlp", "queued": 3, "held": "16", "averageHeld": "1500m", "usage": "412345678"}]},
    "price": {"perGpuHour": "1.080000", "best": "0.900000", "bids": 17, "decidedAt": TIME}}

FULL_NODE_STATUS = {
    "pluginVersion": "0.1.0", "driverVersion": "550.54.15", "cudaVersion": "12.4", "message": "text",
    "lastReport": TIME, "lastSample": TIME, "usage": {"utilization": "37%", "memory": "12.5/40Gi"},
    "conditions": [CONDITION], "gpuCounts": {"total": 2, "healthy": 1},
    "sliceCounts": {"total": 20, "free": 7},
    "gpus": [{"uuid": "GPU-1", "index": 0, "model": "NVIDIA-H100-80GB-HBM3", "memoryMiB": 81559,
              "computeCapability": "9.0", "numaNode": -1, "mig": False, "health": "Unhealthy", "reason": "Xid79",
              "resourceName": "gpupool.dev/vgpu", "slices": {"total": 10, "free": 7, "memoryMiB": 8155, "cores": 10},
              "usage": {"utilizationPercent": 37, "memoryUsedMiB": 12800, "temperatureCelsius": 61, "powerMilliwatts": 250500,
                        "busyMilliseconds": 3600000, "sampledMilliseconds": 86400000, "since": TIME},
              "pods": [{"namespace": "default", "name": "job-1-0", "slices": 3}]}],
    "excesses": [{"namespace": "default", "pod": "job-1-0", "podUID": UID, "device": "GPU-1", "usedMiB": 9000,
                  "limitMiB": 8155, "since": TIME, "end": True}] * 32}

NEWER_WORDS = {"GpuJob": {"phase": "Migrating", "reason": "NewReason", "lease": {"state": "Moving"}},
               "GpuSweep": {"phase": "Pruning", "reason": "NewReason", "results": ["0 P 0.5 3"]},
               "GpuNode": {"gpus": [{"uuid": "GPU-1", "health": "Throttled"}]},
               "GpuPool": {"conditions": [{**CONDITION, "type": "Priced", "status": "Maybe"}]}}
