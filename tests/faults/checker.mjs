// Judges the record of one round. It knows no sockets and no processes.
//
// Entries are in the order in which the driver saw them, and the driver is one thread: an entry happened before a later one.
//
//   wrote     member, id, to                         a member wrote a message
//   sent      member, session, id                    a try to send it
//   acked     member, session, id, conversation, seq
//   refused   member, session, id, code
//   delivered member, session, conversation, seq, id, from
//   hello     member, session, node                  a sign-in begins
//   welcome   member, session, resumed, tops, gaps, messages
//   behind    member, session
//   resume    member, session                        asks for the changes
//   changes   member, session, resumed, tops, gaps, messages
//   ended     member, session, node, by, code, welcomed   by: `server` (or the network), or `client`
//
// `tops` has the seq of the last message of each conversation in the answer. `gaps` names conversations.

/**
 * Returns the violations, and how far each member has read (`reached`), for the next round.
 *
 * `archive`: with the messages of this round. `base`: the tops of the archive before it. `members`: the conversations of each
 * member. `written`: all messages that were ever written, id → member.
 */
export function judge({ entries, archive, base, reached, members, written }) {
  const { found, clients } = reads({ entries, archive, base, reached, members });
  return {
    violations: [...appends({ entries, archive, base, written }), ...found],
    reached: new Map([...clients].map(([member, { top }]) => [member, top])),
  };
}

/** Acknowledged messages are in the history, once, and in an order that agrees with the time. */
function appends({ entries, archive, base, written }) {
  const found = [];
  const say = (rule, text) => found.push({ rule, text });
  const wroteAt = new Map();
  const sentAt = new Map();
  const seenAt = new Map();
  const first = (map, key, at) => map.has(key) || map.set(key, at);
  const acked = new Set();
  entries.forEach((entry, at) => {
    if (entry.t === 'wrote') wroteAt.set(entry.id, at);
    if (entry.t === 'sent') first(sentAt, entry.id, at);
    if (entry.t === 'acked' || entry.t === 'delivered') first(seenAt, entry.id, at);
    for (const { id } of entry.messages ?? []) first(seenAt, id, at);
    if (entry.t !== 'acked') return;
    acked.add(entry.id);
    const place = archive.placeOf(entry.id);
    const where = `seq ${entry.seq} of ${entry.conversation}`;
    if (!place)
      say('lost', `${entry.id} of ${entry.member} was acknowledged with ${where}, and is not there`);
    else if (place.seq !== entry.seq || place.conversation !== entry.conversation)
      say(
        'moved',
        `${entry.id} was acknowledged with ${where}, and is seq ${place.seq} of ${place.conversation}`,
      );
  });
  for (const id of wroteAt.keys()) {
    if (!acked.has(id) && !archive.placeOf(id))
      say('missing', `${id} of ${written.get(id)} was never stored`);
  }
  for (const [conversation, top] of archive.tops()) {
    let latestSent = -1;
    let latest;
    const lastWrote = new Map();
    for (let seq = (base.get(conversation) ?? 0) + 1; seq <= top; seq += 1) {
      const message = archive.at(conversation, seq);
      if (!message) continue;
      const { id, from } = message;
      const where = `seq ${seq} of ${conversation}`;
      if (written.get(id) !== from) say('unknown', `${where} is ${id} of ${from}, who did not write it`);
      if ((seenAt.get(id) ?? Number.POSITIVE_INFINITY) < latestSent)
        say('order', `${where} was seen before ${latest} was sent`);
      const sent = sentAt.get(id) ?? -1;
      if (sent > latestSent) {
        latestSent = sent;
        latest = where;
      }
      const wrote = wroteAt.get(id) ?? -1;
      if (wrote < (lastWrote.get(from) ?? -1))
        say("sender's order", `${where} was written before ${from}'s last one`);
      lastWrote.set(from, Math.max(wrote, lastWrote.get(from) ?? -1));
    }
  }
  return found;
}

/** Each session gets messages in the order of their seq and without gaps, and a sign-in brings all that was stored before. */
function reads({ entries, archive, base, reached, members }) {
  const found = [];
  const clients = new Map();
  /** The highest seq that anybody has seen. */
  const stored = new Map(base);
  const clientOf = member => {
    if (!clients.has(member)) {
      const top = new Map(reached.get(member) ?? base);
      clients.set(member, { member, top, holes: new Map(), behind: false, asked: new Map() });
    }
    return clients.get(member);
  };
  const see = ({ conversation, seq, id }, { member }) => {
    stored.set(conversation, Math.max(stored.get(conversation) ?? 0, seq));
    const there = archive.at(conversation, seq);
    if (there?.id === id) return;
    const text = `${member} saw ${id} as seq ${seq} of ${conversation}; the history has ${there?.id ?? 'nothing'} there`;
    found.push({ rule: there ? 'differs' : 'lost', text });
  };
  for (const entry of entries) {
    switch (entry.t) {
      case 'hello':
      case 'resume':
        clientOf(entry.member).asked = new Map(stored);
        break;
      case 'behind':
        clientOf(entry.member).behind = true;
        break;
      case 'acked':
      case 'delivered':
        see(entry, entry);
        live(clientOf(entry.member), entry, found);
        break;
      case 'welcome':
      case 'changes':
        for (const message of entry.messages) see(message, entry);
        answered(clientOf(entry.member), entry, members.get(entry.member) ?? [], found);
    }
  }
  return { found, clients };
}

function live(client, { conversation, seq, session }, found) {
  const top = client.top.get(conversation) ?? 0;
  const holes = client.holes.get(conversation) ?? new Set();
  const say = (rule, text) =>
    found.push({ rule, text: `${client.member}, session ${session}, ${conversation}: ${text}` });
  if (seq <= top) {
    // A message that the client has may come twice, and a repeated message gets the answer of the first time.
    if (holes.delete(seq) && !client.behind) say('late', `seq ${seq} came after seq ${top}`);
    return;
  }
  if (seq > top + 1 && client.behind) {
    // A session that is behind gets answers only; the changes bring what is missing.
    for (let missing = top + 1; missing < seq; missing += 1) holes.add(missing);
    client.holes.set(conversation, holes);
  } else if (seq > top + 1) say('left out', `seq ${seq} came after seq ${top}`);
  client.top.set(conversation, seq);
}

function answered(client, { t, session, resumed, tops, gaps, messages }, conversations, found) {
  const say = (rule, text) =>
    found.push({ rule, text: `${client.member}, session ${session}, ${t}: ${text}` });
  if (!resumed) {
    client.top = new Map(Object.entries(tops));
    client.holes.clear();
  }
  for (const { conversation, seq } of [...messages].sort((one, other) => one.seq - other.seq)) {
    const top = client.top.get(conversation) ?? 0;
    if (seq > top + 1 && !gaps.includes(conversation))
      say('left out', `${conversation} goes on with seq ${seq} after ${top}, without a gap`);
    client.holes.get(conversation)?.delete(seq);
    client.top.set(conversation, Math.max(top, seq));
  }
  for (const conversation of gaps) client.holes.delete(conversation);
  for (const [conversation, last] of Object.entries(tops)) {
    const top = client.top.get(conversation) ?? 0;
    if (last > top && !gaps.includes(conversation))
      say('left out', `${conversation} ends with seq ${last}, but the messages end with ${top}`);
    client.top.set(conversation, Math.max(last, top));
  }
  for (const [conversation, holes] of client.holes) {
    if (holes.size > 0) say('left out', `${conversation} has no seq ${[...holes].join(', ')}`);
  }
  client.holes.clear();
  client.behind = false;
  for (const conversation of conversations) {
    const wanted = client.asked.get(conversation) ?? 0;
    const has = client.top.get(conversation) ?? 0;
    if (has < wanted)
      say('stale', `${conversation} ends with seq ${has}, and seq ${wanted} was seen before the question`);
  }
}

/**
 * Sessions that the server ended although no fault concerned their node (`touched`) and all their messages had answers. A front may
 * end a session with unacknowledged messages, because only a new sign-in makes a client send them again in their order.
 */
export function disconnects({ entries, touched }) {
  const unanswered = new Map();
  const of = session => unanswered.get(session) ?? unanswered.set(session, new Set()).get(session);
  const found = [];
  for (const entry of entries) {
    if (entry.t === 'sent') of(entry.session).add(entry.id);
    if (entry.t === 'acked') of(entry.session).delete(entry.id);
    const isPromised =
      entry.t === 'ended' && entry.welcomed && entry.by === 'server' && !touched.has(entry.node);
    if (!isPromised || of(entry.session).size > 0) continue;
    const text = `${entry.member}, session ${entry.session} on ${entry.node} ended (${entry.code ?? 'without a word'})`;
    found.push({ rule: 'disconnected', text });
  }
  return found;
}

/**
 * The longest time from writing a message to the moment when its sender knows that it is stored, in milliseconds: by its
 * acknowledgement, or by the message itself after a sign-in.
 */
export function longestPause(entries) {
  const wrote = new Map();
  let longest = 0;
  for (const { t, id, at, member, messages = [] } of entries) {
    if (t === 'wrote') wrote.set(id, { at, member });
    const known = t === 'acked' || t === 'delivered' ? [id] : messages.map(message => message.id);
    for (const one of known) {
      if (wrote.get(one)?.member !== member) continue;
      longest = Math.max(longest, at - wrote.get(one).at);
      wrote.delete(one);
    }
  }
  return longest;
}
