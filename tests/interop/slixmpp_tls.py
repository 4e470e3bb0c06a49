"""slixmpp against a node that requires TLS: STARTTLS, direct TLS, and the refusal of a client without TLS.

Arguments: host, the port with STARTTLS, the port with TLS alone, domain, user, password, and the certificate that signs the node's.
Prints one line per check; exits with 1 if one fails.
"""

import asyncio
import socket
import sys

import slixmpp

failures = []


def check(name, passed):
    print(("ok      " if passed else "FAILED  ") + name, flush=True)
    if not passed:
        failures.append(name)


class Client(slixmpp.ClientXMPP):
    """`transport`: the only one of slixmpp's that it may use."""

    def __init__(self, jid, password, ca, transport):
        super().__init__(jid, password)
        self.ca_certs = ca
        for one in ("enable_direct_tls", "enable_starttls", "enable_plaintext"):
            setattr(self, one, one == transport)
        self.register_plugin("xep_0199")
        self.started = asyncio.get_running_loop().create_future()
        self.add_event_handler("session_start", lambda _: self.decide(True))
        self.add_event_handler("failed_all_auth", lambda _: self.decide(False))
        self.add_event_handler("ssl_invalid_chain", lambda _: self.decide(False))

    def decide(self, outcome):
        if not self.started.done():
            self.started.set_result(outcome)


async def sign_in(name, transport, port):
    client = Client(f"{user}@{domain}", password, ca, transport)
    client.connect(host, int(port))
    started = await asyncio.wait_for(client.started, 10)
    check(f"{name}: sign in with SASL", started)
    if started:
        # The version of TLS is known only while the socket is open.
        check(f"{name}: the stream is encrypted", client.socket.version() in ("TLSv1.2", "TLSv1.3"))
        answered = await client.plugin["xep_0199"].ping(domain, timeout=10)
        check(f"{name}: the domain answers a ping", answered is not None)
        await client.disconnect()


def features_without_tls():
    """What the server offers before TLS, as a client without TLS would read it."""
    with socket.create_connection((host, int(starttls_port)), 10) as stream:
        head = f"<stream:stream to='{domain}' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        stream.sendall(head.encode())
        received = b""
        while b"</stream:features>" not in received:
            part = stream.recv(4096)
            if not part:
                break
            received += part
    return received.decode()


async def main():
    await sign_in("STARTTLS", "enable_starttls", starttls_port)
    await sign_in("direct TLS", "enable_direct_tls", tls_port)
    offered = features_without_tls()
    check("without TLS: STARTTLS is required", "<required" in offered and "urn:ietf:params:xml:ns:xmpp-tls" in offered)
    check("without TLS: no mechanism is offered", "<mechanism>" not in offered)


host, starttls_port, tls_port, domain, user, password, ca = sys.argv[1:]
asyncio.run(main())
sys.exit(1 if failures else 0)
