"""nbxmpp, the library of Gajim, against a running node by TCP and by WebSocket: sign-in, roster, presence, messages, discovery, ping.

Arguments: host, XMPP's port, the web's port, domain, and for each of two users: name and password. Prints one line per check;
exits with 1 if one fails. Needs Debian's package python3-nbxmpp, because PyPI has no binary of PyGObject.
"""

import sys

from gi.repository import GLib
from nbxmpp.client import Client
from nbxmpp.const import ConnectionProtocol, ConnectionType
from nbxmpp.protocol import JID, Message, Presence
from nbxmpp.structs import StanzaHandler

SECONDS = 10
failures = []


def check(name, passed):
    print(("ok      " if passed else "FAILED  ") + name, flush=True)
    if not passed:
        failures.append(name)
    return passed


class Account:
    def __init__(self, address, protocol, domain, user, password):
        self.client = Client(log_context=user)
        self.client.set_domain(domain)
        self.client.set_username(user)
        self.client.set_resource("nbxmpp")
        self.client.set_password(password)
        self.client.set_custom_host(address, protocol, ConnectionType.PLAIN)
        self.client.set_connection_types([ConnectionType.PLAIN])
        self.client.set_protocols([protocol])
        self.client.set_mechs(["SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"])
        self.state = None
        self.messages, self.presences = [], []
        for signal in ("connected", "resume-successful", "disconnected", "connection-failed"):
            self.client.subscribe(signal, self.on_state)
        self.client.register_handler(StanzaHandler(name="message", callback=self.on_message))
        self.client.register_handler(StanzaHandler(name="presence", callback=self.on_presence))
        self.client.connect()

    def on_state(self, _client, signal):
        self.state = signal

    def on_message(self, _client, _stanza, properties):
        self.messages.append(properties)

    def on_presence(self, _client, _stanza, properties):
        self.presences.append(properties)

    def call(self, module, method, *arguments):
        """The result of a task; None if it fails or takes too long."""
        done = []

        def finish(task, *_):
            try:
                done.append(task.finish())
            except Exception as error:
                print(f"        {error!r}")
                done.append(None)

        task = getattr(self.client.get_module(module), method)(*arguments)
        task.add_done_callback(finish, weak=False)
        until(lambda: done)
        return done[0] if done else None


def until(condition):
    """Runs the loop until the condition holds; False if it does not in time."""
    expired = []
    GLib.timeout_add_seconds(SECONDS, lambda: expired.append(True))
    while not condition() and not expired:
        GLib.MainContext.default().iteration(True)
    return bool(condition())


def run(name, address, protocol, domain, first, first_password, second, second_password):
    stranger = Account(address, protocol, domain, first, "a wrong password")
    until(lambda: stranger.state)
    refused = stranger.client.get_error()[1] == "not-authorized"
    check(f"{name}: a wrong password is refused", refused)

    anna = Account(address, protocol, domain, first, first_password)
    tom = Account(address, protocol, domain, second, second_password)
    until(lambda: anna.state and tom.state)
    if not check(f"{name}: sign in with SASL", anna.state == tom.state == "connected"):
        return
    bound = anna.client.get_bound_jid()
    check(f"{name}: the session has its resource", bound.resource == "nbxmpp")
    roster = anna.call("Roster", "request_roster")
    check(f"{name}: the roster is read", roster is not None)
    check(f"{name}: the roster has items", roster is not None and len(roster.items) > 0)
    for one in (anna, tom):
        one.client.send_stanza(Presence())
    check(f"{name}: a client gets its own presence", until(lambda: any(one.jid == bound for one in anna.presences)))

    anna.client.send_stanza(Message(to=f"{second}@{domain}", body=f"Hello by {name} & <b>", typ="chat"))
    received = lambda: [one for one in tom.messages if one.body == f"Hello by {name} & <b>"]
    check(f"{name}: a message arrives unchanged", until(received))
    check(f"{name}: its sender is the account", received() and received()[0].from_.bare == bound.bare)
    tom.client.send_stanza(Message(to=f"{first}@{domain}", body=f"back by {name}", typ="chat"))
    check(f"{name}: and back", until(lambda: any(one.body == f"back by {name}" for one in anna.messages)))

    server = JID.from_string(domain)
    info = anna.call("Discovery", "disco_info", server)
    is_server = info is not None and any((one.category, one.type) == ("server", "im") for one in info.identities)
    check(f"{name}: the domain is an XMPP server", is_server)
    check(f"{name}: the domain answers a ping", anna.call("Ping", "ping", server) is not None)
    for one in (anna, tom):
        one.client.disconnect()
    until(lambda: anna.state == tom.state == "disconnected")
    check(f"{name}: the streams end", anna.state == tom.state == "disconnected")


host, xmpp_port, web_port, domain, *users = sys.argv[1:]
run("TCP", f"{host}:{xmpp_port}", ConnectionProtocol.TCP, domain, *users)
web = f"ws://{host}:{web_port}/xmpp-websocket"
run("WebSocket", web, ConnectionProtocol.WEBSOCKET, domain, *users)
sys.exit(1 if failures else 0)
