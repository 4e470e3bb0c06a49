// Exports all data of a member as lines of JSON: profile, contacts, conversations, messages, and values of apps.

import { type Answer, type Ask, RequestError, type Unnumbered } from '@kith/client';

/** Maximum number of retries for one page if the server is busy or the connection breaks. */
const TRIES = 5;
const WAIT_MS = 2_000;

/** Requests one page after the other, and waits as long as a refusal's `retryAfter` demands. */
export async function* exportLines(
  ask: Ask,
  pause: (ms: number) => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const page = async <R extends Unnumbered>(request: R): Promise<Answer<R['t']>> => {
    for (let left = TRIES; ; left--) {
      signal.throwIfAborted();
      try {
        return await ask(request);
      } catch (error) {
        const after = error instanceof RequestError ? error.retryAfter : undefined;
        const again = error instanceof RequestError && (after !== undefined || error.code === 'offline');
        if (!again || left === 0) throw error;
        await pause(after ?? WAIT_MS);
      }
    }
  };
  const line = (type: string, value: object) => `${JSON.stringify({ type, ...value })}\n`;
  yield line('profile', (await page({ t: 'profile' })).profile);
  let after: string | undefined;
  do {
    const more: Answer<'contacts'> = await page({ t: 'contacts', ...(after !== undefined && { after }) });
    for (const one of more.contacts) yield line('contact', one);
    after = more.next;
  } while (after !== undefined);
  for (const archived of [false, true]) {
    do {
      const more: Answer<'conversations'> = await page({
        t: 'conversations',
        archived,
        ...(after !== undefined && { after }),
      });
      for (const { last: _, ...one } of more.conversations) yield line('conversation', one);
      after = more.next;
    } while (after !== undefined);
  }
  do {
    const more: Answer<'export'> = await page({ t: 'export', ...(after !== undefined && { after }) });
    for (const one of more.messages) yield line('message', one);
    for (const one of more.items ?? []) yield line('item', one);
    after = more.next;
  } while (after !== undefined);
}
