"""slixmpp against a running node: sign-in, roster, presence, messages both ways, discovery, blocking, stream management,
the archive, copies, items, rooms, uploads.

Arguments: host, port, domain, and for each of two users: name and password. Prints one line per check; exits with 1 if one fails.
"""

import asyncio
import io
import sys
import urllib.request

import slixmpp

PLUGINS = [
    "xep_0004", "xep_0012", "xep_0030", "xep_0045", "xep_0049", "xep_0050", "xep_0054", "xep_0060", "xep_0066", "xep_0077", "xep_0084", "xep_0085", "xep_0092", "xep_0115",
    "xep_0153", "xep_0163", "xep_0184", "xep_0191", "xep_0198", "xep_0199", "xep_0202", "xep_0280", "xep_0313", "xep_0352", "xep_0353", "xep_0363",
]
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
        for plugin in PLUGINS:
            self.register_plugin(plugin)
        self.started = asyncio.get_running_loop().create_future()
        self.inbox = asyncio.Queue()
        self.states = asyncio.Queue()
        self.presences = asyncio.Queue()
        self.add_event_handler("session_start", lambda _: self.started.set_result(True))
        self.add_event_handler("failed_all_auth", lambda _: self.started.set_result(False))
        self.add_event_handler("message", self.inbox.put_nowait)
        self.add_event_handler("message_error", self.inbox.put_nowait)
        self.add_event_handler("chatstate_composing", self.states.put_nowait)
        self.add_event_handler("presence_available", self.presences.put_nowait)
        self.calls = asyncio.Queue()
        for step in ("propose", "proceed", "reject", "retract"):
            self.add_event_handler(f"jingle_message_{step}", lambda message, step=step: self.calls.put_nowait((step, message)))
        self.copies = asyncio.Queue()
        self.add_event_handler("carbon_sent", self.copies.put_nowait)


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


async def sign_in(host, port, jid, password):
    client = Client(jid, password)
    client.connect(host, port)
    return client, await asyncio.wait_for(client.started, 10)


async def main(host, port, domain, first, first_password, second, second_password):
    anna, entered = await sign_in(host, port, f"{first}@{domain}", first_password)
    check("sign in with SASL", entered)
    tom, entered = await sign_in(host, port, f"{second}@{domain}/phone", second_password)
    check("sign in with a resource of one's own", entered and tom.boundjid.resource == "phone")

    stranger = Client(f"{first}@{domain}", "a wrong password")
    stranger.connect(host, port)
    check("a wrong password is refused", not await asyncio.wait_for(stranger.started, 10))
    stranger.abort()

    roster = await anna.get_roster()
    check("the roster is read", roster["type"] == "result")
    await tom.get_roster()
    anna.send_presence()
    tom.send_presence()
    own = await until(anna.presences, lambda one: one["from"] == anna.boundjid)
    check("a client gets its own presence", own is not None)

    anna.send_message(mto=f"{second}@{domain}", mbody="Grüße & <b>", mtype="chat")
    message = await until(tom.inbox, lambda one: one["body"])
    check("a message arrives unchanged", message is not None and message["body"] == "Grüße & <b>")
    check("its sender is the account", message is not None and message["from"].bare == anna.boundjid.bare)
    tom.send_message(mto=f"{first}@{domain}", mbody="back", mtype="chat")
    check("and back", await until(anna.inbox, lambda one: one["body"] == "back") is not None)

    laptop, _ = await sign_in(host, port, f"{second}@{domain}/laptop", second_password)
    await laptop.plugin["xep_0280"].enable()
    tom.send_message(mto=f"{first}@{domain}", mbody="copied", mtype="chat")
    copy = await until(laptop.copies, lambda one: one["carbon_sent"]["body"] == "copied")
    check("a message of another app is copied", copy is not None and copy["carbon_sent"]["to"].bare == f"{first}@{domain}")
    await laptop.disconnect()
    page = await tom.plugin["xep_0313"].retrieve(with_jid=slixmpp.JID(f"{first}@{domain}"), rsm={"max": 50})
    bodies = [one["mam_result"]["forwarded"]["stanza"]["body"] for one in page["mam"]["results"]]
    # Clients before this one have sent the same texts.
    check("the archive has both directions", [body for body in bodies if body in ("Grüße & <b>", "back")][-2:] == ["Grüße & <b>", "back"])
    check("the archive is complete", page["mam_fin"].xml.get("complete") == "true")

    composing = anna.make_message(mto=f"{second}@{domain}", mtype="chat")
    composing["chat_state"] = "composing"
    composing.send()
    check("typing arrives", await until(tom.states, lambda _: True) is not None)

    info = await anna.plugin["xep_0030"].get_info(domain)
    check("the domain is an XMPP server", ("server", "im", None, "Kith") in info["disco_info"]["identities"])
    version = await anna.plugin["xep_0092"].get_version(domain)
    check("it says its name", version["software_version"]["name"] == "Kith")
    check("it answers a ping", await anna.plugin["xep_0199"].ping(domain, timeout=10) is not None)
    # Its own reader of `utc` adds a second `Z`.
    time = await anna.plugin["xep_0202"].get_entity_time(domain)
    check("it knows the time", time.xml.find(".//{urn:xmpp:time}utc").text.endswith("Z"))

    await items(anna, tom)
    await calls(anna, tom)
    # A block ends that they are contacts.
    await anna.plugin["xep_0191"].block(f"{second}@{domain}")
    blocked = await anna.plugin["xep_0191"].get_blocked()
    check("a block is listed", f"{second}@{domain}" in [str(item["jid"]) for item in blocked["blocklist"]["items"]])
    tom.send_message(mto=f"{first}@{domain}", mbody="blocked", mtype="chat")
    refused = await until(tom.inbox, lambda one: one["type"] == "error")
    check("a blocked user gets an error", refused is not None)
    await anna.plugin["xep_0191"].unblock(f"{second}@{domain}")
    blocked = await anna.plugin["xep_0191"].get_blocked()
    check("the block ends", not blocked["blocklist"]["items"])

    await upload(anna, tom, domain)
    await account(anna, domain)
    await rooms(anna, tom, domain)

    check("stream management is on", anna.plugin["xep_0198"].enabled_in)
    for client in (anna, tom):
        await client.disconnect()


async def upload(anna, tom, domain):
    """A file of anna for tom: by a slot, with one request, and its address in a message."""
    service = await anna.plugin["xep_0363"].find_upload_service(anna.boundjid.domain)
    check("the domain accepts uploads", service is not None and service["from"] == domain)
    content = "Grüße aus dem Garten\n".encode()
    url = await anna.plugin["xep_0363"].upload_file("garden notes.txt", len(content), "text/plain", input_file=io.BytesIO(content), timeout=10)
    stanza = anna.make_message(mto=tom.boundjid.bare, mbody=url, mtype="chat")
    stanza["oob"]["url"] = url
    stanza.send()
    message = await until(tom.inbox, lambda one: one["oob"]["url"])
    check("the file arrives as an address", message is not None and message["body"] == message["oob"]["url"])
    if message is None:
        return
    check("the address is made for its receiver", message["oob"]["url"] != url)

    def download():
        with urllib.request.urlopen(message["oob"]["url"], timeout=10) as answer:
            return answer.headers["content-type"], answer.read()

    kind, body = await asyncio.get_running_loop().run_in_executor(None, download)
    check("the address opens the file", body == content)
    check("which no browser runs", kind == "application/octet-stream")


async def account(anna, domain):
    registration = await anna.plugin["xep_0077"].get_registration(domain)
    check("the account is registered", registration["register"]["registered"] and registration["register"]["username"] == anna.boundjid.user)
    activity = await anna.plugin["xep_0012"].get_last_activity(anna.boundjid.bare)
    check("the own last activity is now", activity["last_activity"]["seconds"] == 0)
    try:
        await anna.plugin["xep_0012"].get_last_activity(f"unknown@{domain}")
        check("the last activity of others is theirs", False)
    except slixmpp.exceptions.IqError as error:
        check("the last activity of others is theirs", error.condition == "forbidden")
    commands = await anna.plugin["xep_0050"].get_commands(domain)
    nodes = [item[1] for item in commands["disco_items"]["items"]]
    check("a member has commands", "urn:kith:commands:app-passwords" in nodes)
    check("but none of moderators", "urn:kith:commands:reports" not in nodes)
    form = await anna.plugin["xep_0050"].send_command(domain, "urn:kith:commands:app-passwords", action="execute")
    check("a command has a form", form["command"]["status"] == "executing" and form["command"]["form"].get_fields()["passwords"]["options"])


async def items(anna, tom):
    """Personal eventing with capabilities, private XML, vCards and avatars. The two are contacts."""
    mood = "http://jabber.org/protocol/mood"
    notices = asyncio.Queue()
    tom.add_event_handler("pubsub_publish", notices.put_nowait)
    tom.plugin["xep_0163"].add_interest(mood)
    await tom.plugin["xep_0115"].update_caps()
    await asyncio.sleep(1)
    payload = slixmpp.xmlstream.ET.fromstring(f"<mood xmlns='{mood}'><happy/></mood>")
    await anna.plugin["xep_0060"].publish(anna.boundjid.bare, mood, id="current", payload=payload, timeout=10)
    notice = await until(notices, lambda one: one["pubsub_event"]["items"]["node"] == mood)
    check("a contact that wants a node is notified", notice is not None and notice["from"].bare == anna.boundjid.bare)
    read = await tom.plugin["xep_0060"].get_items(anna.boundjid.bare, mood, timeout=10)
    check("a contact reads the items", [item["id"] for item in read["pubsub"]["items"]] == ["current"])
    nodes = await tom.plugin["xep_0030"].get_items(jid=anna.boundjid.bare, timeout=10)
    check("a contact lists the nodes", mood in [item[1] for item in nodes["disco_items"]["items"]])
    await anna.plugin["xep_0060"].delete_node(anna.boundjid.bare, mood, timeout=10)

    prefs = slixmpp.xmlstream.ET.fromstring("<prefs xmlns='urn:example:prefs'><sound>on</sound></prefs>")
    query = anna.Iq()
    query["type"] = "set"
    query.append(slixmpp.xmlstream.ET.fromstring("<query xmlns='jabber:iq:private'/>"))
    query.xml[0].append(prefs)
    await query.send(timeout=10)
    query = anna.Iq()
    query["type"] = "get"
    query.append(slixmpp.xmlstream.ET.fromstring("<query xmlns='jabber:iq:private'><prefs xmlns='urn:example:prefs'/></query>"))
    answer = await query.send(timeout=10)
    check("private XML is kept", answer.xml.find(".//{urn:example:prefs}sound") is not None)

    picture = b"no real picture"
    await anna.plugin["xep_0084"].publish_avatar(picture, timeout=10)
    id = anna.plugin["xep_0084"].generate_id(picture)
    await anna.plugin["xep_0084"].publish_avatar_metadata([{"id": id, "type": "image/png", "bytes": len(picture)}], timeout=10)
    presence = await until(tom.presences, lambda one: one["vcard_temp_update"]["photo"] == id)
    check("presences have the hash of the avatar", presence is not None)
    vcard = await tom.plugin["xep_0054"].get_vcard(anna.boundjid.bare, timeout=10)
    check("the vCard has the picture", vcard["vcard_temp"]["PHOTO"]["BINVAL"] == picture)


async def calls(anna, tom):
    """A call rings, is accepted, and ends; another one is rejected. slixmpp has no media."""

    async def hears(client, step):
        found = await until(client.calls, lambda one: one[0] == step)
        return found and found[1]

    anna.plugin["xep_0353"].propose(tom.boundjid.bare, "call-1", [("urn:xmpp:jingle:apps:rtp:1", "audio")])
    propose = await hears(tom, "propose")
    check("a call rings", propose is not None and propose["from"].bare == anna.boundjid.bare)
    if propose is None:
        return
    tom.plugin["xep_0353"].proceed(propose["from"], propose["jingle_propose"]["id"])
    proceed = await hears(anna, "proceed")
    check("it is accepted", proceed is not None and proceed["jingle_proceed"]["id"] == "call-1")
    anna.plugin["xep_0353"].retract(tom.boundjid.bare, "call-1")
    entry = await until(tom.inbox, lambda one: one["body"].startswith("Audio call"))
    check("it leaves an entry", entry is not None)

    anna.plugin["xep_0353"].propose(tom.boundjid.bare, "call-2", [("urn:xmpp:jingle:apps:rtp:1", "audio")])
    propose = await hears(tom, "propose")
    check("another call rings", propose is not None)
    if propose is not None:
        tom.plugin["xep_0353"].reject(propose["from"], propose["jingle_propose"]["id"])
        check("it is rejected", await hears(anna, "reject") is not None)


async def rooms(anna, tom, domain):
    service = f"rooms.{domain}"
    items = await anna.plugin["xep_0030"].get_items(domain)
    check("the service of rooms is listed", service in [item[0] for item in items["disco_items"]["items"]])
    found = await anna.plugin["xep_0030"].get_items(service)
    # slixmpp gives them as a set, so in another order in each run.
    listed = sorted(item[0] for item in found["disco_items"]["items"])
    check("the rooms are listed", bool(listed))
    features = {}
    for address in listed:
        info = await anna.plugin["xep_0030"].get_info(address)
        features[address] = info["disco_info"]["features"]
    open_rooms = [address for address in listed if "muc_unmoderated" in features[address]]
    check("and which of them take messages of all members", 0 < len(open_rooms) < len(listed))
    if not open_rooms:
        return
    room = open_rooms[0]
    muc = anna.plugin["xep_0045"]
    entered = await muc.join_muc_wait(room, "Anna in an app", maxstanzas=0, timeout=10)
    own_presence, *_ = entered
    check("a room is entered", own_presence["from"].resource == "Anna in an app")
    joined = await tom.plugin["xep_0045"].join_muc_wait(room, "Tom in an app", maxstanzas=0, timeout=10)
    _, _, present, _ = joined
    occupants = [one["from"].resource for one in present]
    check("the occupants are listed", "Anna in an app" in occupants)
    anna.send_message(mto=room, mbody="Hello room", mtype="groupchat")
    is_hello = lambda one: one["type"] == "groupchat" and one["body"] == "Hello room"
    # A refusal is the other outcome: its error says more than a silence.
    message = await until(tom.inbox, is_hello)
    if message is None and not anna.inbox.empty():
        print(f"        {anna.inbox.get_nowait()}")
    check("a message reaches the room", message is not None and message["from"].resource == "Anna in an app")
    check("and comes back to its author", await until(anna.inbox, is_hello) is not None)
    try:
        await tom.plugin["xep_0045"].join_muc_wait(room, "anna in AN app", maxstanzas=0, timeout=10)
        check("a nickname belongs to one member", False)
    except slixmpp.exceptions.PresenceError as error:
        check("a nickname belongs to one member", error.condition == "conflict")
    affiliations = await muc.get_affiliation_list(room, "member")
    check("members are listed", f"{tom.boundjid.bare}" in [str(jid) for jid in affiliations])
    muc.leave_muc(room, "Anna in an app")

    # A room of her own, under an address that no run had before.
    own = f"notes-{anna.new_id()}@{service}"
    created, *_ = await muc.join_muc_wait(own, "Anna", timeout=10)
    check("a room is created", 201 in created["muc"]["status_codes"])
    form = await muc.get_room_config(own)
    check("it has a form", form.get_values()["muc#roomconfig_roomname"] == slixmpp.JID(own).user)
    form.set_values({"muc#roomconfig_publicroom": True, "muc#roomconfig_membersonly": False})
    await muc.set_room_config(own, form)
    await tom.plugin["xep_0045"].join_muc_wait(own, "Tom", maxstanzas=0, timeout=10)
    check("others enter it", True)
    gone = asyncio.Queue()
    tom.add_event_handler(f"muc::{own}::self-presence", gone.put_nowait)
    await muc.destroy(own, reason="Only a test")
    ending = await until(gone, lambda one: one["type"] == "unavailable")
    reason = ending is not None and ending.xml.find(".//{http://jabber.org/protocol/muc#user}reason")
    check("its owner destroys it", reason is not None and reason is not False and reason.text == "Only a test")


host, port, domain, *users = sys.argv[1:]
asyncio.run(main(host, int(port), domain, *users))
sys.exit(1 if failures else 0)
