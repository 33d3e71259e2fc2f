# SPDX-License-Identifier: Apache-2.0
"""What the pod of a worker says about itself."""

from tests.kit.api import Object
from tests.kit.names import GPU, SLICE, SLICES_LABEL


def is_gang(pod: Object) -> bool:
    """Whether it is one of several workers, which a StatefulSet makes and starts again; else a Job makes it."""
    return pod["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"


def rank_of(pod: Object) -> int:
    return int(pod["metadata"]["name"].rsplit("-", 1)[1]) if is_gang(pod) else 0


def variables_of(pod: Object) -> dict[str, str | None]:
    """The environment of its command, as far as the pod says it."""
    return {variable["name"]: variable.get("value") for variable in pod["spec"]["containers"][0].get("env", [])}


def attempt_of(pod: Object) -> int:
    return int(variables_of(pod)["GPUPOOL_ATTEMPT"] or 0)


def saves_its_work(pod: Object) -> bool:
    """Whether its job has spec.checkpoint."""
    return "GPUPOOL_CHECKPOINT_DIR" in variables_of(pod)


def is_over(pod: Object) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def is_deleted(pod: Object) -> bool:
    """Whether it was told to end."""
    return "deletionTimestamp" in pod["metadata"]


def shares_a_node(pod: Object) -> bool:
    """Whether it has slices or single GPUs."""
    return SLICES_LABEL in pod["metadata"]["labels"]


def _limit(pod: Object, resource: str) -> int:
    return int(pod["spec"]["containers"][0].get("resources", {}).get("limits", {}).get(resource, 0))


def slices_of(pod: Object) -> int:
    return _limit(pod, SLICE)


def gpus_of(pod: Object) -> int:
    return _limit(pod, GPU)
