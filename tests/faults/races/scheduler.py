"""Binds workers by what is free: several of a lease may share a node with several GPUs."""

from fake_binder import Binder, over
from support.jobs import GPU, LEASE, LEASE_LABEL


def gpus_of(pod):
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return int(limits.get(GPU, 0))


class Scheduler(Binder):
    @staticmethod
    def _exclusive(pod, pods, nodes):
        used = {}
        for other in pods:
            if not over(other):
                name = other["spec"]["nodeName"]
                used[name] = used.get(name, 0) + gpus_of(other)
        return [n for n in nodes if n["metadata"].get("labels", {}).get(LEASE_LABEL) == pod["metadata"]["labels"][LEASE]
                and int(n["status"].get("allocatable", {}).get(GPU, 0)) - used.get(n["metadata"]["name"], 0) >= gpus_of(pod)]
