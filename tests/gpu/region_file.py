# SPDX-License-Identifier: Apache-2.0
"""A container's region, as limiter/region/layout.h lays it out: made here as the device plugin makes it, and read."""

import struct
from pathlib import Path

MAGIC, LAYOUT = 0x6E6F696765727067, 1
MAX_DEVICES, MAX_SLOTS, CLASSES = 16, 1024, 7
CONTEXT = 6  # the class of contexts, code and stacks
STATE_AT = 16
DEVICES_AT = 40 + 16 * 48
DEVICE_BYTES = 64 + 8 * 8
USED_SLOTS_AT = 2944  # the lock before it and this are at multiples of 64
SLOTS_AT = USED_SLOTS_AT + MAX_SLOTS // 8
USE_BYTES = 64
SLOT_BYTES = 64 + MAX_DEVICES * USE_BYTES
SIZE = SLOTS_AT + MAX_SLOTS * SLOT_BYTES


def content(uuid: str, limit: int) -> bytes:
    """A new one with one device."""
    region = bytearray(SIZE)
    struct.pack_into("<QII", region, 0, MAGIC, LAYOUT, SIZE)
    struct.pack_into("<64sQ", region, DEVICES_AT, uuid.encode(), limit)
    return bytes(region)


def state(path: Path) -> int:
    return int(struct.unpack_from("<I", path.read_bytes(), STATE_AT)[0])


def counted(path: Path, kind: int | None = None) -> int:
    """Bytes of the first device that all processes have charged, dead ones too; or those of one class."""
    region = path.read_bytes()
    sums = 0
    for slot in range(MAX_SLOTS):
        if region[USED_SLOTS_AT + slot // 8] >> slot % 8 & 1:
            at = SLOTS_AT + slot * SLOT_BYTES + 64
            sums += struct.unpack_from("<Q", region, at if kind is None else at + 8 + 8 * kind)[0]
    return sums
