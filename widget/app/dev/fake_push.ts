// A fake of web push that needs no browser.

import type { Push, PushState } from '@kith/loader/stage';

export class FakePush implements Pick<Push, 'state' | 'turnOn' | 'turnOff'> {
  /** The error code of the next attempt; undefined: it succeeds. */
  failing: string | undefined;
  #state: PushState;

  constructor(state: string | undefined) {
    this.#state = (state as PushState | undefined) ?? 'off';
  }

  state(): PushState {
    return this.#state;
  }

  turnOn(): Promise<void> {
    if (this.failing !== undefined) return Promise.reject({ why: this.failing });
    this.#state = 'on';
    return Promise.resolve();
  }

  turnOff(): Promise<void> {
    this.#state = 'off';
    return Promise.resolve();
  }
}
