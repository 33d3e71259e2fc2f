# SPDX-License-Identifier: Apache-2.0
"""An API server with one running job whose ranks print numbered lines: only what `kubectl gpupool logs` asks for.

log_server.py FOLDER RANKS RATE     FOLDER has cert.pem and key.pem; RATE is lines a second of each rank

Prints its port, then serves HTTPS on 127.0.0.1 until it is killed.
"""

import asyncio
import datetime
import json
import ssl
import sys
from pathlib import Path
from typing import Any

UID = "0b7f2a60-0000-4000-8000-000000000001"
BLANK = "loss 0.123456 accuracy 0.9876 images/s 1234.5 grad-norm 1.2345"


def job(ranks: int) -> dict[str, Any]:
    return {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuJob",
            "metadata": {"name": "resnet", "namespace": "lab", "uid": UID, "resourceVersion": "7"},
            "spec": {"pool": "lab", "gpus": ranks,
                     "template": {"spec": {"containers": [{"name": "train", "command": ["train"]}]}}},
            "status": {"phase": "Running", "leaseSequence": 1, "attempts": 1,
                       "lease": {"id": UID + ".1", "state": "Running"}}}


def pod(rank: int) -> dict[str, Any]:
    owner = {"kind": "StatefulSet", "name": "resnet-1", "uid": "x", "controller": True}
    return {"metadata": {"name": f"resnet-1-{rank}", "namespace": "lab", "uid": f"pod-{rank}", "resourceVersion": "7",
                         "labels": {"gpupool.dev/lease": UID + ".1"}, "ownerReferences": [owner]},
            "spec": {"nodeName": f"gpu-{rank}",
                     "containers": [{"name": "train", "env": [{"name": "GPUPOOL_ATTEMPT", "value": "0"}]}]},
            "status": {"phase": "Running", "containerStatuses": [{"name": "train", "restartCount": 0,
                                                                  "state": {"running": {}}}]}}


class Server:
    def __init__(self, ranks: int, rate: float) -> None:
        self.ranks, self.rate = ranks, rate
        self.writers: dict[asyncio.StreamWriter, str] = {}  # open logs and their pods
        self.numbers: dict[str, int] = {}  # of the next line of a pod; a log that is opened again goes on

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                target = head.split(b" ", 2)[1].decode()
                if "/log?" in target or "watch=true" in target:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
                    if "/log?" in target:
                        self.writers[writer] = target.split("/log?")[0]
                    await reader.read()
                    break
                text = json.dumps(self.answer(target)).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text)
                             + text)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.writers.pop(writer, None)
            writer.close()

    def answer(self, target: str) -> dict[str, Any]:
        if target.endswith("/gpujobs/resnet"):
            return job(self.ranks)
        items = [job(self.ranks)] if "/gpujobs" in target else [pod(rank) for rank in range(self.ranks)]
        return {"kind": "List", "metadata": {"resourceVersion": "7"}, "items": items}

    async def print_lines(self) -> None:
        """The ranks take turns, as they would."""
        loop = asyncio.get_running_loop()
        turn, begin = 0, loop.time()
        while True:
            writers = list(self.writers)
            share = max(1, len(writers) // 20)
            for at in range(0, len(writers), share):
                stamp = datetime.datetime.utcnow().isoformat(timespec="microseconds") + "000Z"
                for writer in writers[at:at + share]:
                    name = self.writers.get(writer)
                    if name is None or writer.transport.get_write_buffer_size() > 1 << 20:
                        continue
                    number = self.numbers.get(name, 0)
                    line = f"{stamp} {number} {BLANK}\n".encode()
                    writer.write(b"%x\r\n%s\r\n" % (len(line), line))
                    self.numbers[name] = number + 1
                await asyncio.sleep(0)
            turn += 1
            await asyncio.sleep(max(0.0, begin + turn / self.rate - loop.time()))


async def main(folder: Path, ranks: int, rate: float) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server = Server(ranks, rate)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context, backlog=2048)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await server.print_lines()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
