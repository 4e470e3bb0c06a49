// Kith's headless client: the member's conversations as values to draw, without an interface.

export * from './client.ts';
export type {
  Code,
  Contact,
  ContactAction,
  ContactState,
  Limits,
  Person,
  Presence,
  SetPresence,
} from './wire.ts';
