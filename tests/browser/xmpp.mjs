// A minimal XMPP client (RFC 6120, RFC 6121) without TLS, for a node on this machine: sign-in by PLAIN, messages.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from './browser.mjs';

export class XmppClient {
  /** Connects, and resolves once the server has accepted or refused the password. */
  static async signIn(port, address, password) {
    const client = new XmppClient(address, connect(port, '127.0.0.1'));
    await once(client.socket, 'connect');
    client.open();
    const [local] = address.split('@');
    await client.gets(/<mechanism>PLAIN<\/mechanism>/);
    const credentials = Buffer.from(`\0${local}\0${password}`).toString('base64');
    client.send(`<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>${credentials}</auth>`);
    const [outcome] = await client.gets(/<success|<failure.*?<\/failure>/s);
    client.failure = /<failure[^>]*>\s*<([\w-]+)/.exec(outcome)?.[1];
    if (client.failure === undefined) await client.bind();
    return client;
  }

  constructor(address, socket) {
    Object.assign(this, { address, socket, received: '', isClosed: false });
    this.domain = address.split('@')[1];
    // A failed test leaves it open.
    socket.unref();
    socket.setEncoding('utf8');
    socket.on('data', text => {
      this.received += text;
    });
    socket.on('close', () => {
      this.isClosed = true;
    });
    // A reset shows as `isClosed`.
    socket.on('error', () => undefined);
  }

  open() {
    this.send(
      `<stream:stream to='${this.domain}' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>`,
    );
  }

  async bind() {
    this.open();
    await this.gets(/<bind xmlns=["']urn:ietf:params:xml:ns:xmpp-bind["']/);
    this.send(`<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq><presence/>`);
    await this.gets(/<jid>/);
  }

  /** Sends a message. `body` needs no escapes. */
  say(to, body) {
    this.send(`<message to='${to}' type='chat' id='m-${Date.now()}'><body>${body}</body></message>`);
  }

  send(text) {
    this.socket.write(text);
  }

  /** Waits for text of the server, and consumes all that it has sent up to its end. */
  async gets(wanted) {
    const look = () => {
      const found = wanted.exec(this.received);
      assert.ok(found || !this.isClosed, `the stream has ended after ${this.received}`);
      return found;
    };
    const found = await until(look, `the server sends ${wanted}`);
    this.received = this.received.slice(found.index + found[0].length);
    return found;
  }

  end() {
    this.socket.destroy();
  }
}
