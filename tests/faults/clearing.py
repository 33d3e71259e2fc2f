"""What a failed run leaves in the cluster, removed without an operator, so that the next run finds the cluster as new."""

from support.api import ApiError
from support.waiting import wait_for


def clear(api, namespaces, pools):
    """For when no operator runs and nobody writes any more; nodes are the caller's."""
    for namespace in namespaces:
        api.delete("namespaces", namespace)
    wait_for("what a failed run has left to be gone", lambda: not _remove(api, namespaces, pools),
             detail=lambda: str(_remove(api, namespaces, pools)))


def _remove(api, namespaces, pools):
    """What was still there."""
    found = [(kind, o["metadata"]["name"], namespace) for namespace in namespaces for kind in ("gpujobs", "pods")
             for o in api.list(kind, namespace)]
    found += [("gpupools", pool, None) for pool in pools if api.find("gpupools", pool)]
    for kind, name, namespace in found:
        if api.delete(kind, name, namespace, gracePeriodSeconds=0) and api.find(kind, name, namespace):
            _let_go(api, kind, name, namespace)
    return found


def _let_go(api, kind, name, namespace):
    try:
        api.patch(kind, name, {"metadata": {"finalizers": None}}, namespace)
    except ApiError as error:
        if error.code != 404:
            raise
