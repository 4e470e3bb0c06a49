"""Members of a node and users of Prosody and ejabberd: subscriptions, presence, messages once each, receipts, typing, requests, errors.

Arguments: the node's address and the passwords of anna and tom, the addresses of Prosody and of ejabberd. Prints one line per check;
exits with 1 if one fails.
"""

import asyncio
import sys

import slixmpp
from slixmpp.exceptions import IqError, IqTimeout

failures = []


def check(name, passed):
    print(("ok      " if passed else "FAILED  ") + name, flush=True)
    if not passed:
        failures.append(name)


class Client(slixmpp.ClientXMPP):
    def __init__(self, jid, password):
        super().__init__(jid, password)
        self.plugin["feature_mechanisms"].unencrypted_plain = True
        self.enable_starttls = False
        self.enable_direct_tls = False
        self.enable_plaintext = True
        for plugin in ["xep_0030", "xep_0085", "xep_0184", "xep_0199"]:
            self.register_plugin(plugin)
        self.plugin["xep_0184"].auto_request = True
        # False would refuse each request.
        self.roster.auto_authorize = None
        self.roster.auto_subscribe = None
        self.started = asyncio.get_running_loop().create_future()
        self.inbox, self.presences, self.states = asyncio.Queue(), asyncio.Queue(), asyncio.Queue()
        self.receipts, self.asked, self.gone = asyncio.Queue(), asyncio.Queue(), asyncio.Queue()
        self.granted = asyncio.Queue()
        self.add_event_handler("session_start", lambda _: self.started.set_result(True))
        self.add_event_handler("failed_all_auth", lambda _: self.started.set_result(False))
        self.add_event_handler("message", self.inbox.put_nowait)
        self.add_event_handler("message_error", self.inbox.put_nowait)
        for show in ["available", "away", "dnd"]:
            self.add_event_handler(f"presence_{show}", self.presences.put_nowait)
        self.add_event_handler("presence_unavailable", self.gone.put_nowait)
        self.add_event_handler("presence_subscribe", self.asked.put_nowait)
        self.add_event_handler("presence_subscribed", self.granted.put_nowait)
        self.add_event_handler("chatstate_composing", self.states.put_nowait)
        self.add_event_handler("receipt_received", self.receipts.put_nowait)


async def until(queue, wanted, seconds=15):
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


async def sign_in(host, jid, password):
    client = Client(jid, password)
    client.connect(host, 5222)
    check(f"{jid} signs in", await asyncio.wait_for(client.started, 20))
    await client.get_roster()
    client.send_presence()
    return client


def is_from(client):
    return lambda stanza: stanza["from"].bare == client.boundjid.bare


async def with_server(name, anna, romeo):
    """`anna` is a member of the node, `romeo` a user of the other server."""
    said = lambda what: f"{name}: {what}"
    a, r = anna.boundjid.bare, romeo.boundjid.bare

    try:
        await romeo.plugin["xep_0199"].ping("kith.test", timeout=15)
        check(said("a user pings the node's domain"), True)
    except (IqError, IqTimeout) as error:
        check(said(f"a user pings the node's domain ({error})"), False)

    # A subscription in both directions, which the member begins.
    anna.send_presence_subscription(pto=r)
    check(said("the request of a member arrives"), await until(romeo.asked, is_from(anna)) is not None)
    romeo.send_presence_subscription(pto=a, ptype="subscribed")
    romeo.send_presence_subscription(pto=a)
    seen = await until(anna.presences, lambda p: p["from"] == romeo.boundjid)
    check(said("a member sees the user's presence"), seen is not None)
    await until(anna.asked, is_from(romeo), 2)
    anna.send_presence_subscription(pto=r, ptype="subscribed")
    seen = await until(romeo.presences, is_from(anna))
    check(said("the user sees the member's presence"), seen is not None)

    # Messages, once each, with receipts.
    anna.send_message(mto=r, mbody=f"Hello {name}", mtype="chat")
    got = await until(romeo.inbox, lambda m: m["body"] == f"Hello {name}")
    check(said("a message of the member arrives"), got is not None and got["from"].bare == a)
    check(said("its receipt comes back"), await until(anna.receipts, is_from(romeo)) is not None)
    romeo.send_message(mto=a, mbody=f"Hello from {name}", mtype="chat")
    got = await until(anna.inbox, lambda m: m["body"] == f"Hello from {name}")
    check(said("a message of the user arrives"), got is not None and got["from"].bare == r)
    check(said("its receipt comes back to the user"), await until(romeo.receipts, is_from(anna)) is not None)
    again = await until(romeo.inbox, lambda m: m["body"], 2)
    twice = await until(anna.inbox, lambda m: m["body"] and m["from"].bare == r, 1)
    check(said("each message comes once"), again is None and twice is None)

    typing = romeo.make_message(mto=a, mtype="chat")
    typing["chat_state"] = "composing"
    typing.send()
    check(said("a member sees the user typing"), await until(anna.states, is_from(romeo)) is not None)
    typing = anna.make_message(mto=r, mtype="chat")
    typing["chat_state"] = "composing"
    typing.send()
    check(said("the user sees the member typing"), await until(romeo.states, is_from(anna)) is not None)

    # Requests between sessions.
    try:
        await anna.plugin["xep_0199"].ping(romeo.boundjid, timeout=15)
        check(said("a member pings the user's session"), True)
    except (IqError, IqTimeout) as error:
        check(said(f"a member pings the user's session ({error})"), False)
    try:
        await romeo.plugin["xep_0199"].ping(anna.boundjid, timeout=15)
        check(said("the user pings the member's session"), True)
    except (IqError, IqTimeout) as error:
        check(said(f"the user pings the member's session ({error})"), False)

    # Presence changes, and goes.
    romeo.send_presence(pshow="away", pstatus="lunch")
    away = await until(anna.presences, lambda p: p["from"] == romeo.boundjid and p["show"] == "away")
    check(said("a change of presence arrives"), away is not None and away["status"] == "lunch")
    anna.send_presence(pshow="dnd")
    busy = await until(romeo.presences, lambda p: p["from"].bare == a and p["show"] == "dnd")
    check(said("a change of the member's presence arrives"), busy is not None)
    anna.send_presence()


async def strangers(anna, tom, romeo):
    """A user of another server who is no contact learns nothing."""
    for address, what in [("tom@kith.test", "a member"), ("nobody-at-all@kith.test", "nobody")]:
        answer = None
        try:
            await romeo.plugin["xep_0030"].get_info(jid=address, timeout=10, cached=False)
        except IqError as error:
            answer = error.condition
        except IqTimeout:
            answer = "timeout"
        check(f"a stranger's request to {what} is refused alike", answer == "service-unavailable")
    romeo.send_presence(pto="tom@kith.test", ptype="probe")
    check("a stranger's probe gets no presence", await until(romeo.presences, is_from(tom), 2) is None)


async def errors(anna):
    anna.send_message(mto="someone@nowhere.invalid", mbody="hello?", mtype="chat")
    error = await until(anna.inbox, lambda m: m["type"] == "error", 40)
    found = error is not None and error["error"]["condition"] == "remote-server-not-found"
    check("a message to a domain without a server comes back", found)


async def main(node, anna_password, tom_password, prosody, ejabberd):
    anna = await sign_in(node, "anna@kith.test/phone", anna_password)
    tom = await sign_in(node, "tom@kith.test/phone", tom_password)
    romeo = await sign_in(prosody, "romeo@prosody.test/garden", "secret")
    juliet = await sign_in(ejabberd, "juliet@ejabberd.test/balcony", "secret")
    await with_server("Prosody", anna, romeo)
    await with_server("ejabberd", anna, juliet)
    await strangers(anna, tom, romeo)
    await errors(anna)
    romeo.disconnect()
    check("a user who leaves is gone", await until(anna.gone, is_from(romeo)) is not None)
    for client in [anna, tom, juliet]:
        client.disconnect()
    await asyncio.sleep(0.5)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    sys.exit(1 if failures else 0)
