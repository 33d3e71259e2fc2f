# SPDX-License-Identifier: Apache-2.0
"""helm uninstall while a job runs; and the removal that docs/upgrade.md describes."""

from tests.deploy.chart import HelmError
from tests.install import document
from tests.install.site_under_test import Site
from tests.install.upgrading import workers
from tests.kit.jobs import JobHandle
from tests.kit.names import SYSTEM_NAMESPACE


def check(site: Site, job: JobHandle) -> None:
    """job runs, and is to run on."""
    before = workers(site, job.name)
    site.helm("uninstall")
    _nothing_but_data_is_left(site)
    site.report.check("the job's worker runs on", before and workers(site, job.name) == before,
                      (before, workers(site)))
    site.report.check("the job and its pool are still there", job.exists() and site.api.find("gpupools", "demo"))
    _an_older_chart_refuses(site)
    site.helm("install")
    site.report.eventually("installed again it takes up where it was", lambda: (
        job.phase() == "Running" and site.ready("operator", 2)[0], job.show()))
    site.report.check("with the same worker", workers(site, job.name) == before, (before, workers(site)))
    _remove(site)


def _nothing_but_data_is_left(site: Site) -> None:
    report = site.report
    report.eventually("operator and plugin are told to end", lambda: (
        not site.pods("operator") + site.pods("device-plugin"), ""))
    kept = site.kubectl("get", "crds", "-o", "name")
    report.check("the definitions are kept", kept.count("gpupool.dev") == 7, kept)
    kinds = "deployments,daemonsets,services,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets"
    left = site.kubectl("get", "clusterroles,clusterrolebindings", "-o", "name")
    left += site.kubectl("-n", SYSTEM_NAMESPACE, "get", kinds, "-o", "name")
    ours = [name for name in left.split() if "/gpupool" in name]
    report.check("nothing else of the release is left", not ours, ours)


def _an_older_chart_refuses(site: Site) -> None:
    """As after a newer operator, which leaves its data version in the Lease."""
    def mark(version: str) -> None:
        site.api.patch("leases", "gpupool-operator", {"metadata": {"annotations": {key: version}}}, SYSTEM_NAMESPACE)
    key = "gpupool.dev/data-version"
    known = site.api.get("leases", "gpupool-operator", SYSTEM_NAMESPACE)["metadata"]["annotations"][key]
    mark(str(int(known) + 1))
    try:
        said = site.helm("install")
    except HelmError as error:
        said = str(error)
    site.report.check("a chart older than the data refuses", "a newer gpupool has stored data" in said, said)
    site.report.check("and changes nothing", not site.pods("operator"))
    mark(known)


def _remove(site: Site) -> None:
    done, output = document.follow(site, "docs/upgrade.md", "## Removing gpupool")
    site.report.check("the documented removal works", done, output)
    nodes = str([(node["metadata"], node["spec"]) for node in site.api.list("nodes")])
    site.report.check("no lease is left on a node", "gpupool.dev/lease" not in nodes and
                      "node-restriction.kubernetes.io/lease" not in nodes and "gpupool.dev/pool:" not in nodes, nodes)
    # A kubelet takes its time, but nothing of gpupool may hold a pod back.
    site.report.eventually("no worker is left", lambda: (not workers(site), workers(site)))
    left = site.kubectl("get", "crds,namespaces,clusterroles,clusterrolebindings", "-o", "name")
    site.report.check("nothing of gpupool is left", "gpupool" not in left, left)
