"""aioxmpp against a running node: sign-in, roster, presence, messages both ways, discovery, ping, blocking, stream management.

Arguments: host, port, domain, and for each of two users: name and password. Prints one line per check; exits with 1 if one fails.
"""

import asyncio
import logging
import sys

import aiosasl
import aioxmpp
import aioxmpp.connector
import aioxmpp.dispatcher
import aioxmpp.ping.xso

failures = []
# It logs the refusal of a wrong password.
logging.disable(logging.CRITICAL)


def check(name, passed):
    print(("ok      " if passed else "FAILED  ") + name, flush=True)
    if not passed:
        failures.append(name)


class Client:
    """A client without TLS, of a node on this machine."""

    def __init__(self, host, port, jid, password):
        self.security = aioxmpp.make_security_layer(password)._replace(tls_required=False)
        self.peer = [(host, port, aioxmpp.connector.STARTTLSConnector())]
        self.client = aioxmpp.PresenceManagedClient(
            aioxmpp.JID.fromstr(jid), self.security, override_peer=self.peer, max_initial_attempts=1
        )
        self.inbox = asyncio.Queue()
        self.presences = asyncio.Queue()
        dispatcher = self.client.summon(aioxmpp.dispatcher.SimpleMessageDispatcher)
        dispatcher.register_callback(aioxmpp.MessageType.CHAT, None, self.inbox.put_nowait)
        dispatcher.register_callback(aioxmpp.MessageType.ERROR, None, self.inbox.put_nowait)
        presences = self.client.summon(aioxmpp.dispatcher.SimplePresenceDispatcher)
        presences.register_callback(aioxmpp.PresenceType.AVAILABLE, None, self.presences.put_nowait)

    def send(self, to, body):
        message = aioxmpp.Message(type_=aioxmpp.MessageType.CHAT, to=aioxmpp.JID.fromstr(to))
        message.body[None] = body
        return self.client.send(message)


async def until(queue, wanted, seconds=10):
    """The first item that is wanted; None if none comes in time."""

    async def search():
        while True:
            item = await queue.get()
            if wanted(item):
                return item

    try:
        return await asyncio.wait_for(search(), seconds)
    except asyncio.TimeoutError:
        return None


async def main(host, port, domain, first, first_password, second, second_password):
    anna = Client(host, port, f"{first}@{domain}/aioxmpp", first_password)
    tom = Client(host, port, f"{second}@{domain}/aioxmpp", second_password)
    roster = anna.client.summon(aioxmpp.RosterClient)
    disco = anna.client.summon(aioxmpp.DiscoClient)
    blocking = anna.client.summon(aioxmpp.BlockingClient)

    stranger = Client(host, port, f"{first}@{domain}", "a wrong password")
    try:
        async with stranger.client.connected():
            check("a wrong password is refused", False)
    except aioxmpp.errors.MultiOSError as error:
        refused = any(isinstance(one, aiosasl.AuthenticationFailure) for one in error.exceptions)
        check("a wrong password is refused", refused)
    except aiosasl.AuthenticationFailure:
        check("a wrong password is refused", True)

    async with anna.client.connected() as stream, tom.client.connected():
        check("sign in with SASL", True)
        check("the session has its resource", anna.client.local_jid.resource == "aioxmpp")
        check("stream management is on", stream.sm_enabled)
        check("the roster is read", isinstance(roster.items, dict))
        check("the roster has items", len(roster.items) > 0)
        own = await until(anna.presences, lambda one: one.from_ == anna.client.local_jid)
        check("a client gets its own presence", own is not None)

        await anna.send(f"{second}@{domain}", "Grüße & <b>")
        message = await until(tom.inbox, lambda one: one.body.any())
        check("a message arrives unchanged", message is not None and message.body.any() == "Grüße & <b>")
        sender = message is not None and message.from_.bare() == anna.client.local_jid.bare()
        check("its sender is the account", sender)
        await tom.send(f"{first}@{domain}", "back")
        check("and back", await until(anna.inbox, lambda one: one.body.any() == "back") is not None)

        server = aioxmpp.JID.fromstr(domain)
        info = await disco.query_info(server)
        is_server = any((one.category, one.type_) == ("server", "im") for one in info.identities)
        check("the domain is an XMPP server", is_server)
        ping = aioxmpp.IQ(type_=aioxmpp.IQType.GET, to=server, payload=aioxmpp.ping.xso.Ping())
        await anna.client.send(ping)
        check("the domain answers a ping", True)

        other = aioxmpp.JID.fromstr(f"{second}@{domain}")
        await blocking.block_jids([other])
        await tom.send(f"{first}@{domain}", "blocked")
        refused = await until(tom.inbox, lambda one: one.type_ == aioxmpp.MessageType.ERROR)
        check("a blocked user gets an error", refused is not None)
        check("the block is listed", other in blocking.blocklist)
        await blocking.unblock_jids([other])
        check("the block ends", True)


host, port, domain, *users = sys.argv[1:]
asyncio.run(main(host, int(port), domain, *users))
sys.exit(1 if failures else 0)
