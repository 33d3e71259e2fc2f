# SPDX-License-Identifier: Apache-2.0
"""A name server for tests: answers each question as the test says."""
import ipaddress
import socket
import struct
import threading

A, AAAA = 1, 28
NOERROR, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5


class DnsStub:
    """`answer(name, type)` gives (rcode, [addresses]), or None to stay silent. Listens on `ip`, port 53, UDP."""

    def __init__(self, ip, answer):
        self.asked = []  # (name, type) of each question
        self._answer = answer
        self._changed = threading.Condition()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((ip, 53))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def wait_asked(self, count, timeout=60):
        """Waits until `count` questions were asked."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.asked) >= count, timeout)

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wake:
            wake.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _serve(self):
        while True:
            query, client = self._socket.recvfrom(4096)
            if not query:
                return
            name, end = self._name(query)
            kind = struct.unpack(">H", query[end:end + 2])[0]
            reply = self._answer(name, kind)
            if reply is not None:
                self._socket.sendto(self._reply(query[:end + 4], kind, *reply), client)
            with self._changed:
                self.asked.append((name, kind))
                self._changed.notify_all()

    @staticmethod
    def _name(query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        return ".".join(labels), at + 1

    @staticmethod
    def _reply(query, kind, rcode, addresses):
        head = query[:2] + struct.pack(">HHHHH", 0x8580 | rcode, 1, len(addresses), 0, 0) + query[12:]
        for address in addresses:
            data = ipaddress.ip_address(address).packed
            head += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 1, len(data)) + data
        return head
