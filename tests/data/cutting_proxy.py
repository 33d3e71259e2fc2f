# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that cuts what a server answers."""

import socket
import threading


class CuttingProxy:
    """Passes connections on to a port of this machine. The answers on the first connections are cut after so many bytes,
    headers included; later ones are passed on whole."""

    def __init__(self, port: int, cuts: list[int]):
        self.port = port
        self.cuts = list(cuts)
        self.requests: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listener.getsockname()[1]

    def __enter__(self) -> "CuttingProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            limit = self.cuts.pop(0) if self.cuts else None
            threading.Thread(target=self._serve, args=(client, limit), daemon=True).start()

    def _serve(self, client: socket.socket, limit: int | None) -> None:
        with client, socket.create_connection(("127.0.0.1", self.port)) as server:
            threading.Thread(target=self._send, args=(client, server), daemon=True).start()
            passed = 0
            while piece := server.recv(65536):
                if limit is not None:
                    piece = piece[:limit - passed]
                client.sendall(piece)
                passed += len(piece)
                if passed == limit:
                    break
            for one in (client, server):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _send(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while piece := client.recv(65536):
                self.requests.append(piece)
                server.sendall(piece)
        except OSError:
            pass
