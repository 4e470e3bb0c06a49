"""A name server for the servers of federation.sh: A records of a file in the form of /etc/hosts, and SRV records of the domains.

ejabberd asks Erlang's resolver for SRV records, and the C library for the addresses of their targets. The C library knows no name of
this file, so the targets are addresses, which it takes as they are.

Arguments: the address, the port, the file.
"""

import socket
import struct
import sys

A, SRV = 1, 33
SERVICE = "_xmpp-server._tcp."
PORT = 5269


def answer(query, addresses):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    kind = struct.unpack("!H", query[at + 1 : at + 3])[0]
    question = query[12 : at + 5]
    name = ".".join(labels).lower()
    address = addresses.get(name.removeprefix(SERVICE))
    # RFC 1035 §4.1.1: an answer with authority, without recursion; 3: no such name.
    code, data = (0 if address else 3), None
    if address and kind == A and not name.startswith(SERVICE):
        data = socket.inet_aton(address)
    elif address and kind == SRV and name.startswith(SERVICE):
        target = b"".join(bytes([len(part)]) + part.encode() for part in address.split(".")) + b"\0"
        data = struct.pack("!HHH", 0, 0, PORT) + target
    head = query[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, int(data is not None), 0, 0)
    # §4.1.4: a pointer to the name of the question.
    record = b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(data)) + data if data is not None else b""
    return head + question + record


def main(host, port, path):
    with open(path) as lines:
        pairs = [line.split() for line in lines if line.strip()]
    addresses = {name: address for address, name in pairs}
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((host, int(port)))
    while True:
        query, asker = server.recvfrom(512)
        server.sendto(answer(query, addresses), asker)


main(*sys.argv[1:])
