# SPDX-License-Identifier: Apache-2.0
"""Who may read the books by the network, and what is read: bills also of jobs that are gone, payouts of owners."""

import json
import os
import subprocess
import tempfile

from tests.integration.operator.ledger_case import LedgerCase
from tests.kit.paths import program
from tests.kit.readers import token_of
from tests.kit.relay import address_towards
from tests.kit.waiting import wait_for

RBAC = "/apis/rbac.authorization.k8s.io/v1"
LIST_JOBS = {"apiGroups": ["gpupool.dev"], "resources": ["gpujobs"], "verbs": ["list"]}


def payouts(*owners):
    return {"apiGroups": ["gpupool.dev"], "resources": ["gpuledgers/payouts"], "verbs": ["get"], **({"resourceNames": owners} if owners else {})}


class ReadersCase(LedgerCase):
    readers_host = "127.0.0.1"

    def user(self, name, *rules, cluster=False):
        """The token of a new user, with these rights in the test's namespace, or in all."""
        self.api.create("serviceaccounts", {"metadata": {"name": name, "namespace": self.namespace}})
        self.allow(name, *rules, cluster=cluster)
        return token_of(self.api, self.namespace, name)

    def allow(self, name, *rules, cluster=False, of=""):
        """of: the user, if it has another name."""
        base, kind = (RBAC, "clusterrole") if cluster else (f"{RBAC}/namespaces/{self.namespace}", "role")
        whole = f"{self.namespace}-{name}"
        for path, body in ((kind + "s", {"rules": list(rules)}),
                           (kind + "bindings", {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole" if cluster else "Role", "name": whole},
                                                "subjects": [{"kind": "ServiceAccount", "name": of or name, "namespace": self.namespace}]})):
            self.api.call("POST", f"{base}/{path}", {"metadata": {"name": whole}, **body})
            if cluster:  # else it goes with the namespace
                self.addCleanup(self.api.call, "DELETE", f"{base}/{path}/{whole}")

    def entered_job(self, name):
        """A job that was billed and is gone. Returns its bill."""
        job = self.submit(name)
        self.wait_billed(job, 1)
        self.finish(job)
        bill = job.wait_phase("Succeeded")["bill"]
        self.api.delete("gpujobs", name, self.namespace)
        job.wait_gone()
        wait_for(f"{name} in the books", lambda: name in {line["job"] for line in self.lines()}, detail=self.ledger.log)
        return bill


class BillReadersTest(ReadersCase):
    def test_their_own_rights_decide(self):
        self.ledger.start()
        self.ledger.wait_ready()
        renter, nobody = self.user("renter", LIST_JOBS), self.user("nobody")
        alice, platform = self.user("alice", payouts("alice"), cluster=True), self.user("platform", payouts(), LIST_JOBS, cluster=True)
        bill = self.entered_job("train")
        ours = f"/v1/namespaces/{self.namespace}"
        asked = {"renter": renter, "nobody": nobody, "alice": alice, "platform": platform, "a stranger": "not-a-token"}
        for path, may in ((f"{ours}/bill", {"renter", "platform"}), (f"{ours}/jobs/train/explanation", {"renter", "platform"}),
                          ("/v1/bill", {"platform"}), ("/v1/namespaces/kube-system/bill", {"platform"}),
                          ("/v1/owners/alice/payout", {"alice", "platform"}), ("/v1/owners/alice/machines", {"alice", "platform"}),
                          ("/v1/owners/bob/payout", {"platform"}), ("/v1/payout", {"platform"}), ("/v1/machines", {"platform"})):
            for who, token in asked.items():
                with self.subTest(path=path, who=who):
                    self.assertEqual(200 if who in may else 401 if who == "a stranger" else 403, self.ledger.ask(path, token)[0])
            self.assertEqual(401, self.ledger.ask(path, None)[0])
        self.assertIn("resource gpuledgers/payouts, resourceName bob", self.ledger.ask("/v1/owners/bob/payout", renter)[1])
        # By the API server's proxy, which removes Authorization.
        self.assertEqual(200, self.ledger.ask(f"{ours}/bill", None, X_Gpupool_Token=renter)[0])
        self.assertEqual(403, self.ledger.ask(f"{ours}/bill", renter, X_Gpupool_Token=nobody)[0])
        self.check_reports(ours, renter, alice, bill)

    def check_reports(self, ours, renter, alice, bill):
        """They are those of the ledger's own commands."""
        for path, token, words in ((f"{ours}/bill", renter, ("bill", "-n", self.namespace)), ("/v1/owners/alice/payout", alice, ("payout", "--owner", "alice")),
                                   ("/v1/owners/alice/machines", alice, ("machines", "--owner", "alice"))):
            for form in ("text", "json"):
                with self.subTest(path=path, form=form):
                    self.assertEqual(self.ledger.run(*words, "--format", form).stdout, self.ledger.ask(f"{path}?format={form}", token)[1])
        told = json.loads(self.ledger.ask(f"{ours}/bill?format=json", renter)[1])
        self.assertEqual((bill["cost"], ["train"]), (told["totals"]["EUR"], [line["job"] for line in told["lines"]]))
        self.assertEqual([], json.loads(self.ledger.ask(f"{ours}/bill?format=json&month=2020-01", renter)[1])["lines"])
        for path, status in (("/", 404), ("/v1", 404), (f"{ours}/bills", 404), (f"{ours}/jobs/train", 404), ("/v1/owners//payout", 404),
                             (f"{ours}/payout", 404), ("/v1/owners/alice/bill", 404), (f"{ours}/jobs/never-was/explanation", 404),
                             (f"{ours}/bill?month=2020", 400), (f"{ours}/bill?format=yaml", 400), (f"{ours}/bill?month=%zz", 400),
                             ("/v1/namespaces/..%2fx/bill", 404)):
            self.assertEqual(status, self.ledger.ask(path, renter)[0], path)

    def test_a_namespace_that_is_made_again_does_not_know_the_first(self):
        self.ledger.start()
        self.ledger.wait_ready()
        old = self.entered_job("secret")
        self.assertNotEqual("0.000000", old["cost"])
        self.api.delete("namespaces", self.namespace)
        self.lab.make_namespace(self.namespace)
        renter = self.user("renter", LIST_JOBS)
        ours = f"/v1/namespaces/{self.namespace}"
        self.assertEqual([], json.loads(self.ledger.ask(f"{ours}/bill?format=json", renter)[1])["lines"])
        self.assertEqual(404, self.ledger.ask(f"{ours}/jobs/secret/explanation", renter)[0])
        bill = self.entered_job("own")
        told = json.loads(self.ledger.ask(f"{ours}/bill?format=json", renter)[1])
        self.assertEqual(({"EUR": bill["cost"]}, ["own"]), (told["totals"], [line["job"] for line in told["lines"]]))
        self.assertEqual({"secret", "own"}, {line["job"] for line in self.lines()})

    def test_without_a_certificate_it_enters_what_jobs_held(self):
        os.rename(self.ledger.certificate, self.ledger.certificate + ".away")
        self.ledger.start()
        self.ledger.wait_ready()
        self.entered_job("train")
        self.assertIn("cannot serve readers", self.ledger.log())
        os.rename(self.ledger.certificate + ".away", self.ledger.certificate)
        self.assertEqual(401, self.ledger.ask("/v1/bill", None)[0])


class KubectlTest(ReadersCase):
    """By the API server's proxy of services."""

    def setUp(self):
        self.readers_host = address_towards(self.lab.api.config["clusters"][0]["cluster"]["server"])
        super().setUp()

    def test_kubectl_shows_what_is_gone(self):
        self.ledger.start()
        self.ledger.wait_ready()
        way = {"apiGroups": [""], "resources": ["services/proxy"], "resourceNames": ["https:books:7072"], "verbs": ["get"]}
        renter, alice = self.user("renter", LIST_JOBS, way), self.user("alice", way)
        self.allow("alice", payouts("alice"), cluster=True)
        bill = self.entered_job("train")
        self.serve_as("books")
        month = self.ledger.statement("bill")["month"]
        code, out, err = self.gpupool(renter, "bill", "--month", month)
        self.assertEqual((0, self.ledger.run("bill", "-n", self.namespace).stdout, ""), (code, out, err))
        self.assertIn(bill["cost"], out)
        report = json.loads(self.gpupool(renter, "bill", "--month", month, "-o", "json")[1])
        self.assertEqual(("cli.gpupool.dev/v1", bill["cost"]), (report["apiVersion"], report["report"]["totals"]["EUR"]))
        lines = self.gpupool(renter, "bill", "--month", month, "-o", "csv")[1].splitlines()
        self.assertEqual((2, self.ledger.run("bill", "-n", self.namespace, "--format", "csv").stdout.splitlines()), (len(lines), lines))
        self.assertIn("1 node x 1 GPU x 1.200000 EUR per GPU-hour", self.gpupool(renter, "bill", "train")[1])
        code, _, err = self.gpupool(renter, "bill", "never-was")
        self.assertEqual(1, code)
        self.assertIn("the books have nothing of job", err)
        code, _, err = self.gpupool(renter, "payout", "--owner", "alice")
        self.assertEqual(1, code)
        self.assertIn("resource gpuledgers/payouts, resourceName alice", err)
        self.assertIn("Payout of owner alice", self.gpupool(alice, "payout", "--owner", "alice")[1])
        self.assertIn("RENTED", self.gpupool(alice, "payout", "--owner", "alice", "--machines")[1])
        code, _, err = self.gpupool(renter, "bill", "--month", month, ledger="nowhere")
        self.assertEqual(1, code)
        self.assertIn("or you may not reach it: see ledger.tlsSecret", err)
        self.assertIn("this cluster has no ledger under that name", self.ask_nowhere(renter, month))

    def ask_nowhere(self, renter, month):
        self.allow("renter-too", {"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["get"]}, of="renter")
        return self.gpupool(renter, "bill", "--month", month, ledger="nowhere")[2]

    def serve_as(self, name):
        """As a Service of the cluster, which needs a pod that has the address."""
        self.kubelet.ignored.add((self.namespace, name))
        meta = {"name": name, "namespace": self.namespace}
        self.api.create("pods", {"metadata": meta, "spec": {"schedulerName": "none", "containers": [{"name": "ledger", "image": "none"}]}})
        self.api.patch("pods", name, {"status": {"podIP": self.readers_host, "podIPs": [{"ip": self.readers_host}]}}, self.namespace, "status")
        self.api.create("services", {"metadata": meta, "spec": {"ports": [{"name": "readers", "port": 7072, "protocol": "TCP"}]}})
        self.api.call("POST", f"/api/v1/namespaces/{self.namespace}/endpoints", {"metadata": {"name": name}, "subsets": [
            {"addresses": [{"ip": self.readers_host, "targetRef": {"kind": "Pod", **meta}}],
             "ports": [{"name": "readers", "port": self.ledger.readers_port()}]}]})

    def gpupool(self, token, *words, ledger="books"):
        """(exit code, output, complaints) of kubectl gpupool, as who has the token."""
        config = json.loads(json.dumps(self.api.config))
        config["users"][0]["user"] = {"token": token}
        config["contexts"][0]["context"]["namespace"] = self.namespace
        with tempfile.NamedTemporaryFile("w", suffix=".json") as target:
            json.dump(config, target)
            target.flush()
            done = subprocess.run([program("kubectl-gpupool"), *words, "--ledger", f"{self.namespace}/{ledger}"], capture_output=True, text=True, timeout=60,
                                  check=False, env={**os.environ, "KUBECONFIG": target.name})
        return done.returncode, done.stdout, done.stderr
