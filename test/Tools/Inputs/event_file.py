"""Reads TensorBoard event files without TensorBoard: TFRecord frames with their
checksums, and the fields of Event, Summary and SessionLog that weft writes."""

import struct


def crc32c(data):
    """Bit by bit, by the definition."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


# The check value of the catalogue of CRCs.
assert crc32c(b"123456789") == 0xE3069283


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        length = data[at:at + 8]
        (size,) = struct.unpack("<Q", length)
        (check,) = struct.unpack_from("<I", data, at + 8)
        assert check == masked(length), f"wrong checksum of a length at byte {at}"
        body = data[at + 12:at + 12 + size]
        assert len(body) == size, f"torn record at byte {at}"
        (check,) = struct.unpack_from("<I", data, at + 12 + size)
        assert check == masked(body), f"wrong checksum of a record at byte {at}"
        yield body
        at += size + 16


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Pairs of a field's number and its value."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif kind == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        else:
            assert kind == 2, f"wire type {kind}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def events(path):
    """[{"wall_time", "step", "scalars" | "file_version" | "session"}]"""
    found = []
    with open(path, "rb") as file:
        data = file.read()
    for body in records(data):
        event = {"step": 0, "scalars": {}}
        for number, value in fields(body):
            if number == 1:
                event["wall_time"] = value
            elif number == 2:
                event["step"] = value
            elif number == 3:
                event["file_version"] = value.decode()
            elif number == 5:
                for one, scalar in fields(value):
                    assert one == 1
                    parts = dict(fields(scalar))
                    event["scalars"][parts[1].decode()] = parts[2]
            elif number == 7:
                event["session"] = dict(fields(value))
        found.append(event)
    return found
