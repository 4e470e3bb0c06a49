// Collects users who were drawn and whose names are unknown, and requests their names together.

import type { Ask } from './request.ts';

export interface ProfilesHost {
  knows(user: string): boolean;
  online(): boolean;
  ask: Ask;
  soon(call: () => void): void;
}

const MOST_AT_ONCE = 50;

export class Profiles {
  #met = new Set<string>();
  #asked = new Set<string>();

  constructor(private readonly host: ProfilesHost) {}

  /** Collects the unknown users that are drawn in this turn, and requests their names together after it. */
  meet(user: string): void {
    if (this.host.knows(user) || this.#asked.has(user)) return;
    if (this.#met.size === 0) this.host.soon(() => this.ask());
    this.#met.add(user);
  }

  /** Also requests names of users who were collected before the connection was made. */
  ask(): void {
    if (!this.host.online()) return;
    const users = [...this.#met].slice(0, MOST_AT_ONCE);
    for (const user of users) {
      this.#met.delete(user);
      this.#asked.add(user);
    }
    if (users.length === 0) return;
    this.host.ask({ t: 'profiles', users }).then(
      () => this.ask(),
      () => {
        for (const user of users) {
          this.#asked.delete(user);
          this.#met.add(user);
        }
      },
    );
  }

  /** After a change of the member: the new member may see other users. */
  clear(): void {
    this.#asked.clear();
  }
}
