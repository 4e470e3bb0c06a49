"""Waits for one message with the given body, and answers it. Arguments: host, port, JID, password, body, answer."""

import asyncio
import sys

import slixmpp


class Client(slixmpp.ClientXMPP):
    def __init__(self, jid, password, wanted, answer):
        super().__init__(jid, password)
        self.plugin["feature_mechanisms"].unencrypted_plain = True
        self.enable_starttls = False
        self.enable_direct_tls = False
        self.enable_plaintext = True
        self.done = asyncio.get_running_loop().create_future()
        self.add_event_handler("session_start", lambda _: self.send_presence())
        self.add_event_handler("message", lambda message: self.received(message, wanted, answer))

    def received(self, message, wanted, answer):
        if message["body"] == wanted and not self.done.done():
            message.reply(answer).send()
            self.done.set_result(True)


async def main(host, port, jid, password, wanted, answer):
    client = Client(jid, password, wanted, answer)
    client.connect(host, int(port))
    await asyncio.wait_for(client.done, 15)
    await client.disconnect()


asyncio.run(main(*sys.argv[1:]))
