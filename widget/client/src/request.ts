// The types of requests: commands with a number, and the events that answer them.

import type { Answers, Command, Event } from './wire.ts';

/** A command whose answer repeats its number. The engine sets the number. */
export type Request = Numbered<Command>;
type Numbered<C> = C extends unknown ? ('rid' extends keyof C ? C & { rid: number } : never) : never;

/** A request as callers write it, without its number. */
export type Unnumbered<C = Request> = C extends Request ? Omit<C, 'rid'> : never;

/** The event that answers the command of this name. */
export type Answer<T extends Request['t']> = Extract<Event, { t: Answers[T] }>;

/** Fulfilled with the answer. Rejects with a `RequestError`. */
export type Ask = <R extends Unnumbered>(request: R) => Promise<Answer<R['t']>>;
