# SPDX-License-Identifier: Apache-2.0
"""kubectl gpupool logs while servers, kubelets and ranks break: every line once and in order per rank."""

import collections
import os
import re
import subprocess
import threading

from tests.e2e.logs_case import LogsCase
from tests.kit.manifests import shell
from tests.kit.waiting import wait_for

# How often the API server is killed while the numbered lines are printed.
KILLS = int(os.environ.get("LOG_KILLS") or 2)
MARKS = "/var/gpupool-e2e"  # on each node
LINE = re.compile(r" *(\d+) \| n (\d+) (\d+)$")
# Ranks print numbered lines, until a file exists on their node and 100 more. Rank 2 crashes in attempts 0 and 1. Rank 1
# then prints more than a log may have (1 MiB), so that its kubelet rotates it.
NUMBERS = r"""
i=0 left=100
while [ $left -gt 0 ]; do
  echo "n $GPUPOOL_ATTEMPT $i"
  i=$((i + 1))
  if [ "$RANK-$i" = 2-30 ] && [ $GPUPOOL_ATTEMPT -lt 2 ]; then exit 3; fi
  if [ $GPUPOOL_ATTEMPT -ge 2 ] && [ -e /marks/GO ]; then
    if [ "$RANK-$left" = 1-100 ]; then j=0; while [ $j -lt 200 ]; do printf '%d %06000d\n' $GPUPOOL_ATTEMPT $j; j=$((j + 1)); done; fi
    left=$((left - 1))
  fi
  sleep 0.05
done
echo "last $i"
"""


class LogBreaksTest(LogsCase):
    maxDiff = None

    def follow(self, *arguments):
        """Lines of the output, as they come, and the process."""
        process = subprocess.Popen(self.command("logs", "-f", *arguments), text=True,  # pylint: disable=consider-using-with
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        lines, notes = [], []
        threads = [threading.Thread(target=lambda pipe=pipe, into=into: into.extend(pipe))
                   for pipe, into in ((process.stdout, lines), (process.stderr, notes))]
        for thread in threads:
            thread.start()
        return process, lines, notes, threads

    def restart_server(self):
        self.lab.cluster.verb("stop-server", "apiserver")
        self.lab.cluster.verb("start-server", "apiserver")

    def late(self, shown):
        """Ranks by attempt, of attempt 2 or later."""
        ranks = collections.defaultdict(set)
        for match in filter(None, map(LINE.match, list(shown))):
            if int(match[2]) >= 2:
                ranks[match[2]].add(match[1])
        return ranks

    def let_them_end(self, name):
        base = os.path.join(self.lab.cluster.folder(), "nodes")
        for node in os.listdir(base):
            path = os.path.join(base, node, MARKS.strip("/"), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8"):
                self.addCleanup(os.unlink, path)

    def test_every_line_once_over_breaks_crashes_and_rotation(self):
        go = f"{self.namespace}-{os.getpid()}-go"
        container = shell(NUMBERS.replace("GO", go), volumeMounts=[{"name": "marks", "mountPath": "/marks"}])
        volume = {"name": "marks", "hostPath": {"path": MARKS, "type": "DirectoryOrCreate"}}
        job = self.gang("numbers", "", container=container, pod={"volumes": [volume]}, backoffLimit=5)
        process, shown, notes, threads = self.follow("numbers", "--all", "--exit")
        for kill in range(KILLS):
            seen = len(shown)
            wait_for("more lines", lambda seen=seen: len(shown) > seen + 30, detail=lambda: "".join(notes))
            if kill == KILLS // 2:
                self.lab.cluster.verb("stop-node", "nb")
                self.lab.cluster.verb("start-node", "nb")
            self.restart_server()
        # Of each rank: what is printed before its log is opened may be gone with the rotation.
        wait_for("lines of attempt 2 or later of all ranks", lambda: any(len(ranks) == 3 for ranks in self.late(shown).values()))
        self.let_them_end(go)
        job.wait_condition("Complete")
        self.assertEqual(0, process.wait(120), "".join(notes))
        for thread in threads:
            thread.join()
        numbers = collections.defaultdict(list)
        for match in filter(None, map(LINE.match, shown)):
            rank, attempt, number = map(int, match.groups())
            numbers[attempt, rank].append(number)
        last = job.status()["attempts"] - 1  # more than 2 if attempts were lost
        told = "".join(notes) + str({key: len(value) for key, value in numbers.items()})
        for rank in range(3):
            got = numbers[last, rank]
            self.assertEqual(list(range(len(got))), got, f"rank {rank}\n{told}")
            self.assertIn(f"{rank} | last {len(got)}\n", shown, told)
        for attempt in range(last):
            for rank in range(3):  # they were stopped somewhere
                got = numbers[attempt, rank]
                self.assertEqual(list(range(len(got))), got, f"attempt {attempt}, rank {rank}\n{told}")
        # Rank 2 has crashed, unless a kubelet of 1.20 that is behind has refused another rank before. If it crashed while
        # the server was away, its node may have dropped its log since: then a note must say so.
        crashed = [attempt for attempt in range(2) if f"attempt {attempt} ended: PlacementRefused" not in told]
        if all(len(numbers[attempt, 2]) == 30 for attempt in crashed):
            self.assertNotRegex(told, "rank 2: .*(missing|dropped)")
        else:
            self.assertRegex(told, "rank 2: .*(missing|dropped)")
        long = [line for line in shown if re.fullmatch(r" *1 \| \d+ \d{6000}\n", line)]
        self.assertEqual(len(set(long)), len(long), told)
        self.assertEqual(200, sum(f"| {last} " in line for line in long), told)
