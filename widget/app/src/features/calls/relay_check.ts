// Checks before a call whether this network allows calls, with the STUN and TURN servers of the site's server.

import type { Client, IceServer } from '@kith/client';

export interface Reach {
  /** The server has named at least one STUN or TURN server. */
  asked: boolean;
  direct: boolean;
  /** The server has a relay. */
  hasRelay: boolean;
  /** Transports over which a relay was reached: UDP, TCP, TLS, DTLS. */
  relays: readonly string[];
}

export type Verdict = 'good' | 'relayed' | 'near' | 'blocked';

const PATIENCE_MS = 8_000;

export async function reach(client: Pick<Client, 'server' | 'access'>): Promise<Reach> {
  const ice = await helpers(client);
  const urls = ice.flatMap(one => one.urls.map(url => ({ ...one, urls: [url] })));
  const stuns = urls.filter(one => one.urls[0]?.startsWith('stun'));
  const turns = urls.filter(one => one.urls[0]?.startsWith('turn'));
  // A TURN server also tells a browser its address.
  const [direct, ...relayed] = await Promise.all([
    finds('srflx', stuns.length > 0 ? stuns : turns, 'all'),
    ...turns.map(async one =>
      (await finds('relay', [one], 'relay')) ? wayOf(one.urls[0] ?? '') : undefined,
    ),
  ]);
  const relays = new Set(relayed.filter(one => one !== undefined));
  return { asked: urls.length > 0, direct, hasRelay: turns.length > 0, relays: Array.from(relays) };
}

export function verdict({ asked, direct, hasRelay, relays }: Reach): Verdict {
  if (relays.length > 0) return direct ? 'good' : 'relayed';
  if (!asked || (direct && !hasRelay)) return 'near';
  return direct ? 'near' : 'blocked';
}

/** RFC 7065 §3.1: the transport to the relay. */
export function wayOf(url: string): string {
  if (url.startsWith('turns:')) return url.includes('transport=udp') ? 'DTLS' : 'TLS';
  return url.includes('transport=tcp') ? 'TCP' : 'UDP';
}

async function helpers(client: Pick<Client, 'server' | 'access'>): Promise<IceServer[]> {
  const { site, token } = await client.access();
  const answer = await fetch(`${client.server}/v1/ice`, {
    method: 'POST',
    credentials: 'omit',
    cache: 'no-store',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ site }),
  });
  if (!answer.ok) throw new Error(`ice: ${answer.status}`);
  const { ice } = (await answer.json()) as { ice?: IceServer[] };
  return ice ?? [];
}

/** True if a candidate of this type is gathered within `PATIENCE_MS`. */
function finds(
  type: RTCIceCandidateType,
  servers: readonly IceServer[],
  policy: RTCIceTransportPolicy,
): Promise<boolean> {
  if (servers.length === 0) return Promise.resolve(false);
  return new Promise(resolve => {
    const pc = new RTCPeerConnection({
      iceServers: servers.map(one => ({ ...one })),
      iceTransportPolicy: policy,
    });
    const end = (found: boolean) => {
      clearTimeout(timer);
      pc.onicecandidate = null;
      pc.close();
      resolve(found);
    };
    const timer = setTimeout(() => end(false), PATIENCE_MS);
    pc.onicecandidate = ({ candidate }) => {
      if (candidate === null) end(false);
      else if (candidate.type === type) end(true);
    };
    pc.createDataChannel('reach');
    pc.setLocalDescription().catch(() => end(false));
  });
}
