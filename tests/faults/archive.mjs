// The messages of all conversations, as fresh clients have read them.

export class Archive {
  #conversations = new Map();
  #places = new Map();

  /** The highest seq that was read. */
  top(conversation) {
    return this.#conversations.get(conversation)?.length ?? 0;
  }

  tops() {
    return new Map(
      [...this.#conversations].map(([conversation, messages]) => [conversation, messages.length]),
    );
  }

  /** The place of a message: its conversation and seq. */
  placeOf(id) {
    return this.#places.get(id);
  }

  at(conversation, seq) {
    return this.#conversations.get(conversation)?.[seq - 1];
  }

  /** Adds messages after the known ones, in the order of the server's answer. Returns the violations. */
  add(conversation, messages) {
    const known = this.#conversations.get(conversation) ?? [];
    this.#conversations.set(conversation, known);
    const found = [];
    for (const { seq, id, from } of messages) {
      if (seq !== known.length + 1) {
        found.push({
          rule: 'gap',
          text: `${conversation}: seq ${seq} follows ${known.length} in the history`,
        });
        // Keep the numbers right for what follows.
        while (known.length < seq - 1) known.push(undefined);
        if (seq <= known.length) continue;
      }
      known.push({ id, from });
      const before = this.#places.get(id);
      if (before) {
        const text = `${id} of ${from} has seq ${before.seq} of ${before.conversation} and seq ${seq} of ${conversation}`;
        found.push({ rule: 'doubled', text });
      } else this.#places.set(id, { conversation, seq });
    }
    return found;
  }

  /** Compares a complete history with what was read in earlier rounds. */
  compare(conversation, messages) {
    const known = this.#conversations.get(conversation) ?? [];
    if (messages.length !== known.length) {
      const text = `${conversation}: the history has ${messages.length} messages at the end, and had ${known.length}`;
      return [{ rule: 'history changed', text }];
    }
    return messages
      .filter(({ seq, id }, at) => seq !== at + 1 || id !== known[at]?.id)
      .map(({ seq, id }) => ({
        rule: 'history changed',
        text: `${conversation}: seq ${seq} is ${id} at the end, and was ${known[seq - 1]?.id}`,
      }));
  }
}
