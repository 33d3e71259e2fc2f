"""helm uninstall while a job runs, and what a person does then."""

from support.jobs import JobHandle
from site_under_test import NAMESPACE
from upgrading import _submit, _all_run, _workers


def check(site):
    report = site.report
    job = _submit(site, "left", "demo", gpus=1)
    report.eventually("a job runs", lambda: _all_run([job]), 120)
    before = _workers(site)
    site.helm("uninstall", "--wait")
    report.eventually("operator and plugin are gone", lambda: (not site.pods("operator") + site.pods("device-plugin"), ""), 60)
    report.check("the job's worker runs on", _workers(site) == before and before, (before, _workers(site)))
    report.check("the job and its pool are still there", job.exists() and site.api.find("gpupools", "demo"))
    kept = site.kubectl("get", "crds", "-o", "name")
    report.check("the definitions are kept", kept.count("gpupool.dev") == 3, kept)
    left = site.kubectl("get", "clusterroles,clusterrolebindings", "-o", "name") + site.kubectl(
        "-n", NAMESPACE, "get", "all,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets", "-o", "name")
    ours = [name for name in left.split() if "/gpupool" in name and "kube-root-ca" not in name]
    report.check("nothing else of the release is left", not ours, ours)
    site.helm("install")
    report.eventually("installed again it takes up where it was", lambda: (
        job.phase() == "Running" and site.ready("operator", 2)[0], job.show()), 120)
    job.delete()
    report.eventually("and gives the node back", lambda: (
        not JobHandle(site.api, "left", "default").exists() and "gpupool.dev/lease" not in str(site.api.list("nodes")),
        ""), 120)
