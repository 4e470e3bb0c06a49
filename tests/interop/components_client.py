"""A component made with slixmpp (XEP-0114), and a member of the node: subscription, presence, messages once each, requests, errors, and
notifications for an app that sleeps (XEP-0357).

Arguments: the node's address, the ports of clients and of components, the domain, a member and her password, the host of the component
and its secret. Prints one line per check; exits with 1 if one fails.
"""

import asyncio
import sys

import slixmpp
from slixmpp.exceptions import IqError, IqTimeout
from slixmpp.xmlstream import ET
from slixmpp.xmlstream.handler import CoroutineCallback
from slixmpp.xmlstream.matcher import MatchXPath

from federation_client import Client, check, failures, is_from, until


PUBSUB = "http://jabber.org/protocol/pubsub"


class Component(slixmpp.ComponentXMPP):
    def __init__(self, host, secret, address, port):
        super().__init__(host, secret, address, port)
        for plugin in ["xep_0030", "xep_0060", "xep_0199"]:
            self.register_plugin(plugin)
        self.plugin["xep_0030"].add_identity(category="pubsub", itype="push", name="Push", jid=host)
        self.pushed = asyncio.Queue()
        self.register_handler(CoroutineCallback("push", MatchXPath("{%s}iq/{%s}pubsub" % (self.default_ns, PUBSUB)), self.push))
        self.started = asyncio.get_running_loop().create_future()
        self.ended = asyncio.get_running_loop().create_future()
        self.inbox, self.asked, self.errors = asyncio.Queue(), asyncio.Queue(), asyncio.Queue()
        self.add_event_handler("session_start", lambda _: self.started.done() or self.started.set_result(True))
        self.add_event_handler("stream_error", lambda error: self.ended.done() or self.ended.set_result(error["condition"]))
        self.add_event_handler("message", self.inbox.put_nowait)
        # slixmpp looks for errors in `jabber:client` alone.
        self.add_filter("in", self.note_error)
        self.add_event_handler("presence_subscribe", self.asked.put_nowait)


    async def push(self, iq):
        """Answers a notification, and keeps its node and its number of messages."""
        publish = iq.xml.find("{%s}pubsub/{%s}publish" % (PUBSUB, PUBSUB))
        values = [value.text for value in iq.xml.iter("{jabber:x:data}value")]
        self.pushed.put_nowait((publish.get("node"), values, "".join(iq.xml.itertext())))
        iq.reply(clear=True).send()

    def note_error(self, stanza):
        if stanza.xml.get("type") == "error":
            self.errors.put_nowait([part.tag.split("}")[1] for part in stanza.xml.iter()])
        return stanza


async def refused(host, secret, node, port, expected):
    component = Component(host, secret, node, port)
    component.connect()
    try:
        condition = await asyncio.wait_for(component.ended, 10)
    except asyncio.TimeoutError:
        condition = None
    component.disconnect()
    check(f"{host} is refused: {condition}", condition == expected)


async def main(node, c2s, port, domain, anna_name, password, host, secret):
    bot = Component(host, secret, node, int(port))
    bot.connect()
    check("the component connects", await asyncio.wait_for(bot.started, 10))
    anna = Client(f"{anna_name}@{domain}/phone", password)
    anna.connect(node, int(c2s))
    check("a member signs in", await asyncio.wait_for(anna.started, 20))
    await anna.get_roster()
    anna.send_presence()
    helper = f"helper@{host}"

    anna.send_presence_subscription(pto=helper)
    asked = await until(bot.asked, is_from(anna))
    check("the request of a member arrives", asked is not None and asked["to"].bare == helper)
    bot.send_presence(pto=anna.boundjid.bare, pfrom=helper, ptype="subscribed")
    bot.send_presence(pto=anna.boundjid.bare, pfrom=f"{helper}/1", pstatus="at work")
    seen = await until(anna.presences, lambda p: p["from"].full == f"{helper}/1")
    check("the member sees its user", seen is not None and seen["status"] == "at work")

    anna.send_message(mto=helper, mbody="Help!", mtype="chat")
    got = await until(bot.inbox, lambda m: m["body"] == "Help!")
    check("a message of the member arrives", got is not None and got["to"].bare == helper)
    bot.send_message(mto=anna.boundjid.bare, mfrom=f"{helper}/1", mbody="Coming.", mtype="chat")
    got = await until(anna.inbox, lambda m: m["body"] == "Coming.")
    check("a message of its user arrives", got is not None and got["from"].bare == helper)
    again = await until(bot.inbox, lambda m: m["body"] == "Help!", 1)
    twice = await until(anna.inbox, lambda m: m["body"] == "Coming.", 1)
    check("each message comes once", again is None and twice is None)
    try:
        await bot.plugin["xep_0199"].ping(domain, ifrom=host, timeout=10)
        check("it pings the node's domain", True)
    except (IqError, IqTimeout) as error:
        check(f"it pings the node's domain ({error})", False)

    bot.send_message(mto="someone@nowhere.invalid", mfrom=helper, mbody="hello?", mtype="chat")
    error = await until(bot.errors, lambda parts: "remote-server-not-found" in parts)
    check("a domain that is no site is refused", error is not None)
    await refused(host, secret, node, int(port), "conflict")
    await refused(host, "not the secret of this", node, int(port), "not-authorized")
    await refused(f"other.{host}", secret, node, int(port), "host-unknown")

    # The app names the component as its push service, and sleeps.
    enable = anna.make_iq_set()
    enable.xml.append(ET.fromstring(f"<enable xmlns='urn:xmpp:push:0' jid='{host}' node='phone-1'/>"))
    try:
        await enable.send(timeout=10)
        check("an app names its push service", True)
    except (IqError, IqTimeout) as error:
        check(f"an app names its push service ({error})", False)
    anna.send_raw("<inactive xmlns='urn:xmpp:csi:0'/>")
    bot.send_message(mto=anna.boundjid.bare, mfrom=f"{helper}/1", mbody="Are you asleep?", mtype="chat")
    try:
        node_name, values, text = await asyncio.wait_for(bot.pushed.get(), 20)
    except asyncio.TimeoutError:
        node_name, values, text = None, [], ""
    check("the service gets a notification for its node", node_name == "phone-1")
    check(f"it has a number, and neither text nor author ({values})", "urn:xmpp:push:summary" in values and "asleep" not in text and helper not in text)

    # Presence waits while an app is inactive.
    anna.send_raw("<active xmlns='urn:xmpp:csi:0'/>")
    bot.disconnect()
    gone = await until(anna.gone, lambda p: p["from"].bare == helper)
    check("its user is gone after the component", gone is not None)
    anna.disconnect()
    await asyncio.sleep(0.5)


asyncio.run(main(*sys.argv[1:]))
sys.exit(1 if failures else 0)
