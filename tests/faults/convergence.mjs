// Compares what a member's client shows with what a fresh client of the same member sees.

/**
 * `shown`: `conversations` by id, each `{unread, read, last, messages}`; `presence` and `contacts` by user; `unsent`: the number
 * of queued messages. `fresh`: the same, with `theirReceived` and `theirRead` in place of `messages`. `present`: the presence
 * that each user has. Returns one text for each difference.
 */
export function differences({ shown, fresh, present, archive }) {
  const found = [];
  if (shown.unsent > 0) found.push(`${shown.unsent} messages are still queued`);
  for (const [id, there] of fresh.conversations) {
    const top = archive.top(id);
    if (there.last !== top)
      found.push(`${id}: a fresh client sees seq ${there.last} last, the history ends with ${top}`);
    const here = shown.conversations.get(id);
    if (!here) {
      found.push(`${id} is not shown`);
      continue;
    }
    for (const field of ['unread', 'read', 'last']) {
      if (here[field] !== there[field])
        found.push(`${id}: ${field} is ${here[field]}, for a fresh client ${there[field]}`);
    }
    found.push(...inTimeline(id, here.messages, there, archive));
  }
  for (const [user, state] of fresh.contacts) {
    const here = shown.contacts.get(user);
    if (here !== state) found.push(`contact ${user} is ${here}, for a fresh client ${state}`);
    const wanted = present.get(user);
    const presence = shown.presence.get(user);
    if (presence !== wanted) found.push(`${user} is shown ${presence}, and is ${wanted}`);
    if (fresh.presence.get(user) !== wanted)
      found.push(`${user} is ${fresh.presence.get(user)} for a fresh client, and is ${wanted}`);
  }
  return found;
}

function inTimeline(conversation, messages, { theirReceived, theirRead }, archive) {
  const found = [];
  messages.forEach(({ seq, id, mine, state }, at) => {
    if (seq === undefined) return;
    const stored = archive.at(conversation, seq)?.id;
    if (stored !== id) found.push(`${conversation}: seq ${seq} is shown as ${id}, the history has ${stored}`);
    const before = messages[at - 1]?.seq;
    if (before !== undefined && before !== seq - 1)
      found.push(`${conversation}: seq ${seq} is shown after ${before}`);
    if (!mine) return;
    const wanted = theirRead >= seq ? 'read' : theirReceived >= seq ? 'received' : 'sent';
    if (state !== wanted)
      found.push(`${conversation}: own seq ${seq} is shown as ${state}, and is ${wanted}`);
  });
  return found;
}
