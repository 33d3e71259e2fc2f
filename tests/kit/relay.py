# SPDX-License-Identifier: Apache-2.0
"""Passes TCP connections on: to reach from pods what listens on the loopback of this machine."""

import socket
import threading
from typing import Any
from urllib.parse import urlsplit


def address_towards(url: str) -> str:
    """The address of this machine that the cluster with this API server reaches it by."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((urlsplit(url).hostname, 9))
        return str(probe.getsockname()[0])


class Relay:
    """Listens on a free port of `address`, from `with` to its end."""

    def __init__(self, address: str, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server((address, 0))
        self.address = f"{address}:{self._listener.getsockname()[1]}"

    def __enter__(self) -> "Relay":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        _pump(client, server)
        back.join()
        client.close()
        server.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for one in (source, sink):
            one.close()
